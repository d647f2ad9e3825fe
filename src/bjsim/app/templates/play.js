"use strict";
// The page Play keeps the answers of each table, so that a reload or another worker takes them up again.
let fresh = false, hinted = false, clock, began, tableOf, dueOf; // of which table the shown one is, and of which game the due cells
// The record has a line for each judged move: day, game, cell, and `yes` if it was wrong. It stays in this browser.
const RECORD = "bjsim-record", MOST = 20000, WEAK = .25, DUE = 12, DAYS = 7;
const gameOf = () => String(new URLSearchParams([...query()].filter(([name]) => ["rules", "set"].includes(name))));
const recorded = () => {
  const own = gameOf();
  return (localStorage.getItem(RECORD) || "").split("\n").filter(Boolean).map(line => line.split("\t")).filter(([, game]) => game === own);
};
const note = () => {
  const {cell, wrong} = report.querySelector(".said").dataset, all = (localStorage.getItem(RECORD) || "").split("\n");
  if (cell) localStorage.setItem(RECORD, [...all, [new Date().toLocaleDateString("sv"), gameOf(), cell, wrong].join("\t")].slice(-MOST).join("\n"));
};
const tallied = key => { // how many answers, and how many wrong, by the first or another column of the record
  const found = new Map();
  recorded().forEach(line => { const [all, wrong] = found.get(line[key]) || [0, 0]; found.set(line[key], [all + 1, wrong + (line[3] === "yes")]); });
  return found;
};
const isWeak = ([all, wrong]) => wrong > 0 && wrong / all >= WEAK;
const dueCells = () => [...tallied(2)].filter(([, of]) => isWeak(of)).sort(([, one], [, other]) => other[1] - one[1]).slice(0, DUE).map(([cell]) => cell).join(",");
const renewDue = () => { if (dueOf !== gameOf()) { dueOf = gameOf(); at("due").value = dueCells(); } };
const ROWS = {hard: Array.from({length: 16}, (_, i) => `${i + 5}`), soft: [..."23456789"].map(card => `A${card}`), pairs: [..."23456789TA"].map(card => card + card)};
const kindOf = row => /^([2-9TJQKA])\1$/.test(row) ? "pairs" : row.startsWith("A") ? "soft" : "hard";
const mapOf = (kind, cells) => {
  const seen = [...cells.keys()].map(cell => cell.split(" v ")), table = element("table", {class: "chart"});
  const rows = new Set([...ROWS[kind], ...seen.map(([row]) => row).filter(row => kindOf(row) === kind)]), columns = new Set([..."23456789TA", ...seen.map(([, column]) => column)]);
  const line = (name, scope, rest) => element("tr", {}, element("th", {scope}, name), ...rest);
  table.createTHead().append(line(kind, "col", [...columns].map(column => element("th", {scope: "col"}, column))));
  table.createTBody().append(...[...rows].map(row => line(row, "row", [...columns].map(column => {
    const of = cells.get(`${row} v ${column}`);
    return of ? element("td", {class: isWeak(of) ? "weak" : of[1] ? "missed" : "right", title: `${row} v ${column}: missed ${of[1]} of ${of[0]}`}, of[1] || "\u2713") : element("td", {});
  }))));
  return element("div", {class: `wide ${kind}`}, table);
};
const showRecord = () => {
  const days = [...tallied(0)].sort(), cells = tallied(2), right = ([all, wrong]) => Math.round(100 * (all - wrong) / all);
  at("record").hidden = !days.length;
  at("days").replaceChildren(...days.slice(-DAYS).map(([day, of]) => {
    const bar = element("svg", {viewBox: "0 0 10 100", preserveAspectRatio: "none", "aria-hidden": "true"},
      element("rect", {class: "base", width: 10, height: 100}), element("rect", {y: 100 - right(of), width: 10, height: right(of)}));
    return element("div", {}, element("b", {}, `${right(of)}%`), bar, new Date(`${day}T12:00`).toLocaleDateString("en-GB", {day: "numeric", month: "short"}));
  }));
  const all = days.reduce((sum, [, of]) => sum + of[0], 0), last = days.length && right(days.at(-1)[1]);
  at("summary").textContent = `${all} ${all === 1 ? "move" : "moves"} on ${days.length} ${days.length === 1 ? "day" : "days"}${days.length > 1 ? `; ${right(days[0][1])}% right on the first, ${last}% on the last` : ""}. The record is of this game, and stays in this browser.`;
  at("map").replaceChildren(...Object.keys(ROWS).map(kind => mapOf(kind, cells)));
};
const answersOf = () => { // without what changes no card
  const of = query();
  ["seconds", ...(of.has("drill") ? [] : ["due"])].forEach(name => of.delete(name));
  return `play?${of}`;
};
const answers = () => sessionStorage.getItem(answersOf()) || "";
const answer = async word => {
  if (report.ariaBusy === "true") return;
  clearInterval(clock);
  if (tableOf !== answersOf()) return; // another one was asked for, and has not come
  const key = answersOf(), before = answers();
  sessionStorage.setItem(key, before ? `${before}\n${word}` : word);
  fresh = true;
  const isTaken = await update();
  if (isTaken) { note(); showRecord(); }
  if (isTaken === false) { sessionStorage.setItem(key, before); afterTable(true); }
  (at("word") || at("asked"))?.focus();
};
const countDown = isSame => {
  const bar = at("clock"), seconds = Number(at("seconds").value), isWrong = !(seconds >= 0);
  clearInterval(clock);
  at("seconds").closest(".field").classList.toggle("wrong", isWrong); at("seconds").ariaInvalid = String(isWrong);
  if (!bar) return;
  if (!isSame) began = performance.now();
  bar.hidden = !(seconds > 0);
  if (seconds > 0) clock = setInterval(() => {
    if (!bar.isConnected) { clearInterval(clock); return; }
    bar.value = 1 - (performance.now() - began) / 1000 / seconds;
    if (bar.value <= 0) answer("late");
  }, 100);
};
const newCards = () => {
  at("due").value = dueCells();
  at("seed").value = String(crypto.getRandomValues(new Uint32Array(1))[0] % 1000000);
};
const take = async move => {
  if (report.ariaBusy === "true") return; // the answer to a move is also for the record
  if (move.id !== "hint") { answer(move.dataset.word); return; }
  hinted = true;
  await update();
  at("asked")?.focus();
};
function afterTable(isSame = false) { // with the same question, whose time goes on
  tableOf = answersOf();
  const field = at("word");
  if (field) { field.value = field.getAttribute("value"); field.select(); }
  countDown(isSame);
  showRecord();
}
function beginPlay() {
  if (!new URLSearchParams(location.search).get("seed")) {
    newCards();
    history.replaceState(null, "", `?${query()}`);
  }
  at("save").addEventListener("click", () => {
    const link = element("a", {download: "bjsim-record.txt", href: URL.createObjectURL(new Blob([localStorage.getItem(RECORD)]))});
    link.click();
    URL.revokeObjectURL(link.href);
  });
  at("forget").addEventListener("click", () => { if (confirm("Forget the record of all games?")) { localStorage.removeItem(RECORD); showRecord(); } });
  at("new").addEventListener("click", () => { newCards(); changed(); });
  at("ask").addEventListener("change", changed);
  report.addEventListener("click", event => { const move = event.target.closest("[data-word], #hint"); if (move) take(move); });
  report.addEventListener("beforeinput", event => { if (event.target.dataset.digits && /[^0-9]/.test(event.data || "")) event.preventDefault(); });
  report.addEventListener("submit", event => { event.preventDefault(); if (at("word")) answer(at("word").value.trim() || at("word").getAttribute("value")); });
  addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    if (event.target !== document.body && !report.contains(event.target)) return;
    const move = [...report.querySelectorAll("[data-key]")].find(one => one.dataset.key === event.key.toLowerCase());
    if (move) { event.preventDefault(); take(move); }
  });
}
