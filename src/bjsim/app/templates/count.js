"use strict";
// The page Count: from one run by count all figures of any bets, in money, at every key.
const SPANS = 12, RAREST = .003, LOW = .15; // of counts; the share of the highest, and of the lowest
const MOST = 15; // true counts up to this one have rows of their own, so that other bets need no other run
const HOURS = 40, NINE_IN_TEN = 1.645, narrow = matchMedia("(max-width: 40rem)");
let data, counts, error, spans = [], bets = []; // the first three are those of figures.js
let countName, betRamp; // such as true count; the bets as a ramp
let isEdited = false; // else the bets are those of the answer, which may differ within a span
const digits = (value, places) => value.toLocaleString("en-US", {minimumFractionDigits: places, maximumFractionDigits: places}).replace("-", "\u2212");
const dollars = (value, places = 2) => `${value < 0 ? "\u2212" : ""}$${digits(Math.abs(value), places)}`;
const share = value => value < 1e-4 ? "< 0.01%" : `${digits(100 * value, value < .1 ? 2 : 1)}%`;
const amount = text => Number(text.trim().toLowerCase().replace(/^\$/, "").replace(/^\d{1,3}(,\d{3})+(?![\d,])/, all => all.replaceAll(",", "")).replace(/[km]$/, of => of === "k" ? "e3" : "e6")); // $10,000 or 1.5k
const number = id => amount(at(id).value);
const settings = () => ({
  bankroll: number("bankroll"), unit: number("unit"), hourly: 1 / (1 / number("rounds_per_hour") + data.lost), kelly: number("kelly"), low: 1,
  high: number("spread"), chip: number("chip") / number("unit"), wait: -Infinity, risk: number("risk") / 100,
});
const FIELDS = ["bankroll", "unit", "spread", "risk", "kelly", "rounds_per_hour", "chip"];
const valid = () => FIELDS.map(id => {
  const bad = {spread: number("spread") < 1, chip: number("chip") > number("unit") * number("spread")}; // no bet is as high
  const ok = number(id) > 0 && !bad[id], field = at(id).closest(".field");
  field.classList.toggle("wrong", !ok); at(id).ariaInvalid = String(!ok);
  return ok;
}).every(Boolean);

// Neighbouring counts with one bet: the rare ones at both ends together.
const findSpans = () => {
  let above = 0, below = 0, high = counts.length - 1, low = 0;
  while (high > 0 && ((above += counts[high].share) < RAREST || counts[high].count > MOST)) high--;
  while (low < high && (below += counts[low].share) < LOW) low++;
  const width = Math.max(1, Math.ceil((counts[high].count - counts[low].count) / (SPANS - 1)));
  const top = counts[high].count, place = row => Math.max(0, SPANS - 1 - Math.ceil(Math.max(0, top - row.count) / width));
  const found = [...Map.groupBy(counts, place)];
  return found.sort(([one], [other]) => one - other).map(([, rows]) => {
    const total = rows.reduce((sum, row) => sum + row.share, 0), mean = name => rows.reduce((sum, row) => sum + row.share * row[name], 0) / total;
    const [first, last] = [rows[0], rows.at(-1)], usual = rows.reduce((most, row) => row.share > most.share ? row : most);
    const label = rows === found[0]?.[1] && first === counts[0] ? `\u2264${sign(last.count)}` : last === counts.at(-1) ? `\u2265${sign(first.count)}` : first === last ? sign(first.count) : `${sign(first.count)} to ${sign(last.count)}`;
    return {rows, label, share: total, ev: mean("ev"), var: mean("var"), cov: mean("cov"), spots: usual.spots, bet: usual.bet, from: first.count};
  });
};
const sign = count => count ? (count > 0 ? "+" : "\u2212") + Math.abs(count) : "0";
const byRow = of => counts.map(row => of[spans.findIndex(one => one.rows.includes(row))]); // units
const areBets = () => bets.every(bet => bet >= 0) && bets.some(bet => bet > 0);
const betText = bet => bet >= 0 ? +bet.toFixed(2) : "";
const units = () => bets.map(bet => bet / number("unit"));
const ruinOf = (ramp, now) => metrics(ramp, now).ror[0](ramp.ev, ramp.sd);

// Each figure as its number and its interval, in words.
const findFigures = (ramp, now) => {
  const all = metrics(ramp, now), figure = key => { const [of] = all[key]; return [of(ramp.ev, ramp.sd), halfWidth(ramp, of, key)]; };
  const within = (half, places, unit = "") => half >= 0 ? `\u00b1 ${digits(half, places)}${unit}` : "";
  const [profit, aside] = figure("ev_per_hour"), [swing] = figure("sd_per_hour"), [risk, about] = figure("ror");
  const [score, half] = figure("score"), [hours, off] = figure("n0_hours");
  return {
    profit, swing, risk, hour: [dollars(profit), `\u00b1 ${dollars(aside)}`], ruin: [share(risk), within(100 * about, 2, "%")],
    score: [digits(score, 1), within(half, 1)], n0: isFinite(hours) ? [digits(hours, 0), within(off, 0)] : ["never", ""],
  };
};

let comparing, here, drawn; // here: the table that is shown; drawn: what the bets beside it are labelled as
const labels = () => [here.played, ...spans.map(one => one.label)].join();
const showFigures = () => {
  if (!at("hour")) return; // an error stands there
  const usable = valid() && areBets();
  document.querySelectorAll("#bets input").forEach((input, i) => {
    const chip = number("chip");
    input.classList.toggle("odd", !(bets[i] >= 0) || Math.abs(bets[i] / chip - Math.round(bets[i] / chip)) > 1e-6);
  });
  const write = (id, value, half, means) => {
    const [, shown, trust, said] = at(id).children;
    shown.textContent = value; trust.textContent = half;
    if (means !== undefined) said.textContent = means;
  };
  if (!usable) { ["hour", "ruin", "score", "n0"].forEach(id => write(id, "\u2013", "")); write("hour", "\u2013", "", "waits for a number"); return; }
  const now = settings(), ramp = returns(isEdited ? byRow(units()) : counts.map(row => row.bet)), found = findFigures(ramp, now);
  const far = NINE_IN_TEN * found.swing * Math.sqrt(HOURS), middle = HOURS * found.profit;
  write("hour", ...found.hour, `${HOURS} hours: 9 times in 10 between ${dollars(middle - far, 0)} and ${dollars(middle + far, 0)}`);
  write("ruin", ...found.ruin, `${found.risk > now.risk + 5e-5 ? "more than" : "within"} your limit of ${share(now.risk)}`);
  at("ruin").classList.toggle("loss", found.risk > now.risk + 5e-5);
  write("score", ...found.score);
  write("n0", ...found.n0);
  clearTimeout(comparing);
  comparing = setTimeout(compare, 300);
};
// The edge up or down from an axis, to the right or the left where the screen is narrow; behind it how often the count comes.
const drawSpan = (one, most, widest) => {
  const long = Math.max(62 * Math.abs(one.ev) / most, .6) * (one.ev < 0 ? .5 : 1), often = 34 * one.share / widest, axis = 34;
  const box = (kind, from, size, aside, width) => element("rect", narrow.matches ? {class: kind, x: from, y: aside, width: size, height: width} : {class: kind, x: aside, y: 100 - from - size, width, height: size});
  const edge = narrow.matches ? {x1: axis, x2: axis, y1: 0, y2: 20} : {x1: -4, x2: 24, y1: 100 - axis, y2: 100 - axis};
  return element("svg", {viewBox: narrow.matches ? "0 0 100 20" : "0 0 20 100", preserveAspectRatio: "none", "aria-hidden": "true"},
    box("share", axis, often, 0, 20), box(one.ev < 0 ? "down" : "up", one.ev < 0 ? axis - long : axis, long, 4, 12), element("line", edge));
};
const drawBets = () => {
  const focused = [...at("bets").querySelectorAll("input")].indexOf(document.activeElement);
  drawn = labels();
  const most = Math.max(...spans.map(one => Math.abs(one.ev))), widest = Math.max(...spans.map(one => one.share));
  at("bets").replaceChildren(...spans.map((one, i) => element("div", {},
    element("b", {}, one.label), drawSpan(one, most, widest), element("span", {class: one.ev < 0 ? "loss" : "gain"}, `${one.ev < 0 ? "\u2212" : "+"}${digits(100 * Math.abs(one.ev), 2)}%`),
    element("small", {}, `${digits(100 * one.share, 1)}%`), element("input", {inputmode: "decimal", value: betText(bets[i]), "aria-label": `Bet at a ${countName} of ${one.label}, in dollars`}))));
  at("bets").querySelectorAll("input")[focused]?.focus({preventScroll: true});
};
const fillBets = () => document.querySelectorAll("#bets input").forEach((input, i) => { if (input !== document.activeElement && bets[i] >= 0) input.value = betText(bets[i]); });
// The bets as the ramp of the address and of the command; the server follows.
let asking;
const writeRamp = () => {
  isEdited = true; at("no-bets").hidden = true;
  fillBets(); showFigures();
  clearTimeout(asking);
  if (!(number("unit") > 0) || !areBets()) return; // the last ramp stands until it can be written
  const unit = number("unit"), steps = spans.map((one, i) => `${one.rows === spans[0].rows ? one.rows.at(-1).count : one.from}:${+(bets[i] / unit).toFixed(4)}${one.spots > 1 ? `x${one.spots}` : ""}`);
  const isTrue = countName.startsWith("true"); // by running count, steps are rows of the run
  at("ramp").value = steps.filter((step, i) => !i || !isTrue || step.split(":")[1] !== steps[i - 1].split(":")[1]).join(" ");
  betRamp = at("ramp").value;
  at("optimal").value = "";
  asking = setTimeout(() => { if (valid()) changed(); }, 500); // a field may hold half a number by then
};
// What is computed is of this run from here on.
const use = run => {
  data = run;
  counts = data.counts;
  error = data.error.map((line, i) => data.error.map((other, j) => j <= i ? line[j] : other[i]));
  spans = findSpans();
};
// What is of the last game goes once another one is refused; bets that are refused can be corrected.
const hideOld = why => { at("tables").hidden = at("no-bets").hidden = true; at("bets").hidden = !/^ramp\b/.test(why); };
const afterCount = () => {
  const {run, name} = report.querySelector(".four").dataset;
  at("bets").hidden = false;
  use(JSON.parse(run));
  countName = name;
  const before = here?.played;
  here = thisTable();
  if (here.played !== before) at("no-bets").hidden = true;
  if (spans.every((one, i) => one.rows.every(row => Math.abs(row.bet - bets[i] / number("unit")) < 1e-3))) isEdited = false;
  if (!at("bets").contains(document.activeElement) || drawn !== labels() || betRamp !== at("ramp").value) {
    bets = spans.map(one => one.bet * number("unit")); betRamp = at("ramp").value; isEdited = false;
    drawBets();
  }
  showFigures();
};
const kellyBets = (now, kelly) => optimal({...now, kelly}, spans).map(bet => bet * now.unit);
// The boldest Kelly bets whose risk is within the limit: timid bets ruin too, so the search goes from bold to timid.
const findBest = now => {
  let least = {risk: 2};
  for (let kelly = 1; kelly > .02; kelly -= .01) {
    const found = kellyBets(now, kelly), ramp = returns(byRow(found.map(bet => bet / now.unit))), risk = ruinOf(ramp, now);
    if (risk <= now.risk) return {found, kelly, risk, hour: ramp.ev * now.hourly * now.unit};
    if (risk < least.risk) least = {least: found, kelly, risk};
  }
  return least;
};
// The first of these settings for which some bets keep the risk below the limit; nothing if there is none.
const leastChange = (id, name, ways) => {
  for (const other of ways) {
    const way = findBest(other);
    if (way.found) return [[name(other), id, other[id], way]];
  }
  return [];
};
const isHere = () => Boolean(here && at("hour") && here.played === played()); // else the figures are those of another game
const best = () => {
  if (!isHere() || !valid()) return;
  const now = settings(), answer = findBest(now);
  if (!answer.found) {
    const tables = [2, 5, 10].map(part => ({...now, unit: now.unit / part, chip: part * now.chip}));
    const banks = [2, 3, 5, 10].map(times => ({...now, bankroll: times * now.bankroll}));
    const found = [
      ...leastChange("unit", other => `a ${dollars(other.unit)} table`, tables),
      ...leastChange("bankroll", other => `a bankroll of ${dollars(other.bankroll, 0)}`, banks),
    ];
    at("no-bets").replaceChildren(element("p", {}, `With this bankroll no bets keep the risk of ruin below ${share(now.risk)}; the least is ${share(answer.risk)}, with the bets below.${found.length ? " These would:" : ""}`),
      ...found.map(([name, id, value, way]) => element("p", {}, element("button", {type: "button", class: "quiet", "data-id": id, value}, name), ` ${dollars(way.hour)} an hour, risk of ruin ${share(way.risk)}`)));
  }
  bets = answer.found ?? answer.least;
  at("kelly").value = digits(answer.kelly, 2);
  writeRamp();
  at("no-bets").hidden = Boolean(answer.found);
};
at("best").addEventListener("click", best);
at("by-kelly").addEventListener("click", () => { if (isHere() && valid()) { bets = kellyBets(settings(), number("kelly")); writeRamp(); } });
at("no-bets").addEventListener("click", event => {
  if (!event.target.value) return;
  at(event.target.dataset.id).value = event.target.value;
  best();
});
at("bets").addEventListener("input", event => {
  bets[[...at("bets").querySelectorAll("input")].indexOf(event.target)] = amount(event.target.value.trim() || "none");
  writeRamp();
});
at("bets").addEventListener("change", event => event.stopPropagation()); // `writeRamp` asks
at("bets").addEventListener("keydown", event => {
  const all = [...at("bets").querySelectorAll("input")], i = all.indexOf(event.target), step = {ArrowUp: 1, ArrowDown: -1}[event.key];
  if (event.key === "Enter") event.preventDefault();
  if (!step || i < 0) return;
  event.preventDefault();
  bets[i] = Math.max(0, (bets[i] || 0) + step * number("chip"));
  event.target.value = betText(bets[i]);
  writeRamp();
});
// A kept table stays while this tab is open. Each of the two has its own best bets, by the settings of the page.
const ROWS = {hour: "Dollars an hour", ruin: "Risk of ruin", score: "SCORE", n0: "N0, hours", bets: "Bets"};
const PLAYED = ["rules", "set", "system", "indices", "leave", "leave_minutes"]; // what makes it another table
const played = () => String(new URLSearchParams([...query()].filter(([name]) => PLAYED.includes(name))));
const thisTable = () => {
  const leave = at("leave");
  const name = `${report.querySelector("h1").textContent}${leave.value ? `, leaving at ${leave.selectedOptions[0].text}` : ""}`;
  return {at: `?${address()}`, name, played: played(), run: data};
};
const withBestBets = ({run}) => {
  use(run);
  const now = settings(), {found, least} = findBest(now), best = found ?? least, ramp = returns(byRow(best.map(bet => bet / now.unit)));
  return {...findFigures(ramp, now), bets: [`${dollars(Math.min(...best), 0)} to ${dollars(Math.max(...best), 0)}`]};
};
// What one of two tables with the same title has that the other has not: in words, such as dealer hits soft 17.
const own = (table, other) => table.name !== other.name ? table.name : [table.name, ...[...new URLSearchParams(table.played)].filter(pair => !new URLSearchParams(other.played).has(...pair)).map(([name, value]) => {
  const [rule, chosen] = name === "set" ? value.split("=") : [name, value], control = at(rule);
  return [...control?.options ?? []].find(one => one.value === chosen)?.text ?? `${control?.labels[0]?.textContent.toLowerCase() ?? rule} ${chosen}`;
})].join(", ");
const compare = () => {
  const kept = JSON.parse(sessionStorage.getItem("table"));
  if (!kept || !at("hour")) return;
  const two = [kept, here], isSame = kept.played === here.played;
  at("kept").textContent = isSame ? `Kept: ${kept.name}. Change the game, the system, or when you leave.` : "Each with its own best bets for this risk of ruin, or those of the least risk.";
  at("tables").hidden = isSame;
  if (isSame) return;
  const figures = two.map(withBestBets), line = (name, cells) => element("tr", {}, element("th", {scope: "row"}, name), ...cells);
  use(here.run);
  at("tables").replaceChildren(element("table", {},
    element("thead", {}, line("Figure", two.map(table => element("th", {scope: "col"}, element("a", {href: table.at}, own(table, two.find(one => one !== table))))))),
    element("tbody", {}, ...Object.entries(ROWS).map(([key, name]) => line(name, figures.map(figure => element("td", {}, figure[key].join(" "))))))));
};
at("keep").addEventListener("click", () => {
  if (!isHere()) return;
  sessionStorage.setItem("table", JSON.stringify({...here, at: `?${address()}`})); // with the bets of now
  compare();
});
at("ask").addEventListener("input", event => { at("no-bets").hidden = true; if (data && FIELDS.includes(event.target.id)) showFigures(); });
narrow.addEventListener("change", () => { if (data) drawBets(); });
