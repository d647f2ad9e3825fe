"use strict";
// The page Game: what the edge is in money, the short and the whole chart, and rules by their prices.
const HOURS = 4, prices = document.querySelector(".prices"), rows = [...prices.children];
const dollars = value => `$${value.toLocaleString("en-US", {minimumFractionDigits: value < 100 ? 2 : 0, maximumFractionDigits: value < 100 ? 2 : 0})}`;
const usualMoney = {bet: "25", hourly: "70"}, MONEY = Object.keys(usualMoney), money = {}; // in the address if not usual
const readMoney = () => {
  const given = new URLSearchParams(location.search);
  MONEY.forEach(name => { money[name] = given.get(name) ?? usualMoney[name]; });
};
const showMoney = () => {
  const means = report.querySelector(".means");
  if (!means) return;
  MONEY.forEach(name => { if (at(name) !== document.activeElement) at(name).value = money[name]; });
  const [bet, hourly] = MONEY.map(name => Number(money[name])), value = Number(means.dataset.value), deviation = parseFloat(at("deviation").textContent);
  MONEY.forEach(name => { at(name).ariaInvalid = String(!(Number(money[name]) > 0)); });
  if (!(bet > 0 && hourly > 0) || !isFinite(value)) { at("cost").textContent = "–"; at("evening").textContent = ""; return; }
  at("cost").textContent = `${value > 0 ? "pays you" : "costs you"} ${dollars(Math.abs(value) * bet * hourly)} an hour`;
  if (!deviation) { at("evening").textContent = at("deviation").textContent === "…" ? "…" : ""; return; }
  const n = HOURS * hourly, ahead = Math.round(100 * Math.exp(logNormal(value * Math.sqrt(n) / deviation))), lost = bet * (1.645 * deviation * Math.sqrt(n) - value * n);
  at("evening").textContent = `In four hours you are ahead about ${ahead} times in 100; 1 time in 20 you lose more than ${dollars(Math.max(lost, 0))}.`;
};
const writeMoney = query => MONEY.forEach(name => { if (money[name] !== usualMoney[name]) query.set(name, money[name]); });
const showLater = async (name, of, signal) => { // a figure of the report that takes seconds
  const answer = await fetched(`report/${name}?${of}`, {signal}), text = await answer.text();
  if (!signal.aborted) at(name).textContent = answer.ok ? text.replace("-", "\u2212") : "not known";
};
const valueOf = row => parseFloat(row.lastChild.textContent.replace("\u2212", "-"));
// Rows by price, on one axis; those that are not known come last.
const drawPrices = () => {
  const known = rows.filter(row => !row.disabled && isFinite(valueOf(row)) && row.checkVisibility()), values = known.map(valueOf);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values, 1e-9)], place = x => 100 * (x - low) / (high - low);
  const focused = document.activeElement;
  prices.append(...known.sort((one, other) => valueOf(other) - valueOf(one)), ...rows.filter(row => !known.includes(row)));
  if (prices.contains(focused)) focused.focus();
  known.forEach(row => {
    const value = valueOf(row), [rect, line] = row.querySelector("svg").children, width = Math.max(Math.abs(place(value) - place(0)), .4);
    rect.setAttribute("x", value < 0 ? place(0) - width : place(0)); rect.setAttribute("width", width);
    line.setAttribute("x1", place(0)); line.setAttribute("x2", place(0));
  });
};
const unprice = row => {
  row.hidden = at(row.dataset.rule).value.trim() === row.value; // it is the rule of this game
  row.disabled = false; row.title = ""; row.classList.remove("gain", "loss");
  row.querySelector("rect").setAttribute("width", 0);
  row.lastChild.textContent = "…";
};
const showPrices = async (of, signal, which) => {
  for (const row of which.filter(one => !one.hidden && one.lastChild.textContent === "…")) {
    const answer = await fetched(`report/change?${of}&to=${encodeURIComponent(`${row.dataset.rule}=${row.value}`)}`, {signal}), text = await answer.text();
    if (signal.aborted) return;
    row.disabled = !answer.ok; if (!answer.ok) row.title = text;
    row.lastChild.textContent = answer.ok ? text.replace("-", "\u2212") : "–";
    if (/[1-9]/.test(text) && answer.ok) row.classList.add(text.startsWith("+") ? "gain" : "loss");
  }
  drawPrices();
};
let pricing = null, pressed = "";
const forgetPrices = () => { pricing = null; rows.forEach(unprice); };
const afterGame = async (of, signal) => {
  readMoney(); showMoney(); afterChart();
  forgetPrices(); at("details").replaceChildren(); // which come minutes later
  drawPrices();
  if (pressed) rows.find(row => row.dataset.rule === pressed && !row.hidden)?.focus();
  pressed = "";
  if (at("compared")) await showLater("compared", of, signal);
  await showLater("deviation", of, signal);
  if (!signal.aborted) showMoney();
  await showPrices(of, signal, rows.filter(row => !row.classList.contains("rare")));
  await showDetails("details", of, signal);
  pricing = () => showPrices(of, signal, rows).catch(() => {});
  if (prices.classList.contains("all") && !signal.aborted) pricing();
};
prices.addEventListener("click", event => {
  const row = event.target.closest("button");
  if (row) { pressed = row.dataset.rule; put(at(row.dataset.rule), row.value); changed(); }
});
at("all").addEventListener("click", () => {
  at("all").ariaPressed = String(prices.classList.toggle("all"));
  if (pricing) pricing();
});
const showsAll = () => sessionStorage.getItem("rows") === "full";
const afterChart = () => {
  report.querySelector(".charts")?.classList.toggle("short", !showsAll());
  at("short").ariaPressed = String(!showsAll()); at("full").ariaPressed = String(showsAll());
};
report.addEventListener("click", event => {
  const button = event.target.closest("#short, #full, #print");
  if (button?.id === "print") print(); else if (button) { sessionStorage.setItem("rows", button.id); afterChart(); }
});
report.addEventListener("input", event => {
  if (!MONEY.includes(event.target.name)) return;
  money[event.target.name] = event.target.value.trim();
  showMoney();
  history.replaceState(history.state, "", `?${address()}`);
  shownAddress = location.search;
});
report.addEventListener("keydown", event => { // the hand of a cell, whose column is a card and not a total, and whose row counts no cards
  const cell = event.target.closest("td[data-ev]");
  if (cell && /^\w+ v/.test(handOf(cell)) && event.key === "Enter" && at("dealer_shows").value === "up") location.assign(`${[...document.querySelectorAll("nav a")].find(one => /\/hand(\.html)?$/.test(one.pathname)).pathname}?${query()}&hand=${encodeURIComponent(handOf(cell))}`);
});
const handOf = cell => `${cell.parentElement.cells[0].firstElementChild.textContent} v ${cell.closest("table").rows[0].cells[cell.cellIndex].textContent}`;
