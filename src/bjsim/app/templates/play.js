"use strict";
// The page Play keeps the answers of each table, so that a reload or another worker takes them up again.
let fresh = false, hinted = false, clock;
const answersOf = () => `play?${query()}`;
const answers = () => sessionStorage.getItem(answersOf()) || "";
const answer = async word => {
  if (report.ariaBusy === "true") return;
  clearInterval(clock);
  const key = answersOf(), before = answers();
  sessionStorage.setItem(key, before ? `${before}\n${word}` : word);
  fresh = true;
  if (await update() === false) { sessionStorage.setItem(key, before); afterTable(); }
  (at("word") || at("asked"))?.focus();
};
const countDown = () => {
  const bar = at("clock"), seconds = Number(at("seconds").value), began = performance.now();
  clearInterval(clock);
  if (!bar) return;
  bar.hidden = !(seconds > 0);
  if (seconds > 0) clock = setInterval(() => {
    bar.value = 1 - (performance.now() - began) / 1000 / seconds;
    if (bar.value <= 0) answer("late");
  }, 100);
};
const newCards = () => {
  at("seed").value = String(crypto.getRandomValues(new Uint32Array(1))[0] % 1000000);
  changed();
};
const take = async move => {
  if (move.id !== "hint") { answer(move.dataset.word); return; }
  hinted = true;
  await update();
  at("asked")?.focus();
};
function afterTable() {
  const field = at("word");
  if (field) { field.value = field.getAttribute("value"); field.select(); }
  countDown();
}
function beginPlay() {
  if (!new URLSearchParams(location.search).get("seed")) {
    at("seed").value = String(crypto.getRandomValues(new Uint32Array(1))[0] % 1000000);
    history.replaceState(null, "", `?${query()}`);
  }
  at("new").addEventListener("click", newCards);
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
