"use strict";
// The address holds the game; every change of a rule asks for the report again.
const page = document.body.dataset.page, at = id => document.getElementById(id);
const form = at("rules"), preset = at("preset"), report = at("report"), state = at("state");
const controls = [...form.querySelectorAll("[name]")];
const itself = Array.from(crypto.getRandomValues(new Uint32Array(4)), one => one.toString(36)).join("");
let presets, running = new AbortController();

const say = (text, wrong = false) => { state.textContent = text; state.className = wrong ? "wrong" : ""; };
// The example of a hand has two cards of the dealer where both are shown.
const usualHand = () => at("dealer_shows").value === "both" ? at("hand").dataset.both : at("hand").defaultValue;
const query = () => {
  const found = new URLSearchParams({rules: preset.value});
  controls.forEach(one => {
    const changed = one.value.trim() !== presets[preset.value][one.name];
    one.closest(".rule").classList.toggle("changed", changed);
    if (changed) found.append("set", `${one.name}=${one.value.trim()}`);
  });
  if (page === "hand" && [at("hand").defaultValue, at("hand").dataset.both].includes(at("hand").value)) at("hand").value = usualHand();
  if (page === "hand") found.set("hand", at("hand").value);
  return found;
};
const fill = () => {
  const given = new URLSearchParams(location.search), name = given.get("rules");
  preset.value = name in presets ? name : "vegas-s17";
  controls.forEach(one => { one.value = presets[preset.value][one.name]; });
  given.getAll("set").forEach(text => {
    const cut = text.indexOf("="), one = controls.find(control => control.name === text.slice(0, cut));
    if (one) one.value = text.slice(cut + 1);
  });
  if (controls.some(one => at("rarer").contains(one) && one.value !== presets[preset.value][one.name])) at("rarer").open = true;
  if (page === "hand") at("hand").value = given.get("hand") || usualHand();
};
const fetched = async (url, options = {}) => {
  try { const answer = await fetch(url, {...options, headers: {"bjsim-page": itself}}); at("stopped").hidden = true; return answer; }
  catch (error) { if (error.name !== "AbortError") at("stopped").hidden = false; throw error; }
};
const showDetails = async (asked, signal) => {
  const part = at("details");
  part.ariaBusy = "true";
  const answer = await fetched(`/report/details?${asked}`, {signal}), text = await answer.text();
  if (signal.aborted) return;
  part.ariaBusy = "false"; part.innerHTML = answer.ok ? text : "";
  // figures that had no value yet
  part.querySelectorAll(".figures div").forEach(found => {
    const open = [...report.querySelectorAll(".figures div")].find(one => one.firstChild.textContent === found.firstChild.textContent);
    if (open) open.lastChild.textContent = found.lastChild.textContent;
  });
  part.querySelector(".figures")?.remove();
};
const showChanges = async (asked, signal) => {
  const rows = [], body = at("changes");
  body.replaceChildren();
  for (const one of controls.filter(control => control.dataset.changes)) {
    for (const value of one.dataset.changes.split(" ")) {
      if (value === one.value.trim()) continue;
      const row = body.insertRow(), head = document.createElement("th");
      head.scope = "row"; head.textContent = one.name.replaceAll("_", " "); row.append(head);
      row.insertCell().textContent = value;
      rows.push([`${one.name}=${value}`, row.insertCell(), row]);
      row.lastChild.textContent = "…";
    }
  }
  for (const [setting, cell, row] of rows) {
    const answer = await fetched(`/change?${asked}&to=${encodeURIComponent(setting)}`, {signal}), text = await answer.text();
    if (signal.aborted) return;
    if (answer.ok) { cell.textContent = text; cell.className = /[1-9]/.test(text) ? text.startsWith("+") ? "gain" : "loss" : ""; } else row.remove();
  }
};
const update = async () => {
  running.abort(); running = new AbortController();
  const {signal} = running, asked = query(), options = {signal};
  document.querySelectorAll("nav a").forEach(link => { link.search = asked; });
  if (page === "chart") {
    if (!at("chart").value.trim()) { say(""); return; }
    Object.assign(options, {method: "POST", body: at("chart").value});
  }
  say("computing …"); report.ariaBusy = "true";
  try {
    const answer = await fetched(`/report/${page}?${asked}`, options), text = await answer.text();
    if (signal.aborted) return;
    say(answer.ok ? "" : text, !answer.ok); report.ariaBusy = "false";
    if (!answer.ok) return;
    report.innerHTML = text; watchCharts(report);
    if (page === "game") { await showDetails(asked, signal); await showChanges(asked, signal); }
  } catch (error) { if (error.name !== "AbortError") { say(""); report.ariaBusy = "false"; } }
};
const changed = () => { history.pushState(null, "", `?${query()}`); update(); };
preset.addEventListener("change", () => { controls.forEach(one => { one.value = presets[preset.value][one.name]; }); changed(); });
controls.forEach(one => one.addEventListener("change", changed));
form.addEventListener("submit", event => event.preventDefault());
if (at("ask")) at("ask").addEventListener("submit", event => { event.preventDefault(); changed(); });
addEventListener("popstate", () => { fill(); update(); });
setInterval(() => fetched("/alive").catch(() => {}), 3000);
if (innerWidth < 960) form.querySelector("details").open = false;
fetched("/presets").then(answer => answer.json()).then(found => { presets = found; fill(); update(); });
