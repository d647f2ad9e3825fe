"use strict";
// Where a browser refuses storage, as it does with cookies, what is kept lasts as long as the page.
["sessionStorage", "localStorage"].forEach(name => {
  try { void window[name].length; } catch {
    const held = new Map();
    Object.defineProperty(window, name, {value: {getItem: key => held.get(key) ?? null, setItem: (key, value) => held.set(key, String(value)), removeItem: key => held.delete(key)}});
  }
});
// The address holds the game and what else a page asks; every change asks for the report again.
const page = document.body.dataset.page, at = id => document.getElementById(id);
const form = at("rules"), preset = at("preset"), report = at("report"), state = at("state"), ask = at("ask"), go = at("go");
const controls = [...form.querySelectorAll("[name]")], asked = ask ? [...ask.querySelectorAll("[name]")] : [];
const itself = Array.from(crypto.getRandomValues(new Uint32Array(4)), one => one.toString(36)).join("");
const computing = at("details")?.innerHTML; // what stands there until there is an answer
const AGAIN = 5; // times that a report is asked for again after a worker has died
let presets, running = new AbortController(), halted = false, indexing = new AbortController(), indicesOf, indicesGame, shownAddress;

const element = (name, attributes, ...inside) => {
  const made = ["svg", "rect", "line"].includes(name) ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...inside);
  return made;
};
const say = text => { state.textContent = text; };
const pause = (ms, signal) => new Promise(done => { const over = setTimeout(done, ms); signal?.addEventListener("abort", () => { clearTimeout(over); done(); }); });
// The example of a hand has two cards of the dealer where both are shown.
const usual = one => one.dataset.both && at("dealer_shows").value === "both" ? one.dataset.both : one.matches("select") ? (one.querySelector("[selected]") || one.options[0]).value : one.defaultValue;
// Gives a control a value; a list is extended by it.
const put = (one, value) => {
  if (one.options && ![...one.options].some(option => option.value === value)) one.add(new Option(value, value), one.options.length - 1);
  one.value = value;
};
const query = () => {
  const found = new URLSearchParams({rules: preset.value});
  controls.forEach(one => {
    const changed = one.value.trim() !== presets[preset.value][one.name];
    one.closest(".rule").classList.toggle("changed", changed);
    if (changed) found.append("set", `${one.name}=${one.value.trim()}`);
  });
  at("undo").hidden = !found.has("set");
  asked.forEach(one => {
    if ([one.defaultValue, one.dataset.both].includes(one.value)) one.value = usual(one);
    if (one.value.trim() !== usual(one) || page === "hand" || (page === "play" && one.name === "seed")) found.set(one.name, one.value.trim());
  });
  return found;
};
// What an address holds: the question, and on the page of a game the bet that tells its money.
const address = () => { const found = query(); if (page === "game") writeMoney(found); return found; };
// What a page asks needs no presets, so that it stands before a reader can change it.
const fillAsked = () => {
  const given = new URLSearchParams(location.search);
  asked.forEach(one => put(one, given.get(one.name) ?? usual(one)));
  if (at("text")) at("text").value = sessionStorage.getItem(page) || "";
};
const fill = () => {
  const given = new URLSearchParams(location.search), name = given.get("rules");
  const isKnown = name && Object.hasOwn(presets, name), missing = [];
  preset.value = isKnown ? name : "vegas-s17";
  if (name && !isKnown) missing.push(`No game is called ${name.slice(0, 40)}; this is ${preset.value}.`);
  controls.forEach(one => put(one, presets[preset.value][one.name]));
  given.getAll("set").forEach(text => {
    const [rule] = text.split("="), one = controls.find(control => control.name === rule);
    if (one) put(one, text.slice(rule.length + 1)); else missing.push(`No rule is called ${rule.slice(0, 40)}; it is left out.`);
  });
  unknown.hidden = !missing.length;
  unknown.textContent = missing.join(" ");
  if (page === "game") readMoney();
  if (controls.some(one => at("rarer").contains(one) && one.value !== presets[preset.value][one.name])) at("rarer").open = true;
};
const fetched = async (url, options = {}) => {
  try { const answer = await askHost(url, {...options, headers: {"bjsim-page": itself}}); at("stopped").hidden = true; return answer; }
  catch (error) { if (error.name !== "AbortError") at("stopped").hidden = false; throw error; }
};
// Changes a part of the page to another one and keeps what is the same, so that focus and open details stay.
const morph = (old, fresh) => {
  if (old.nodeName !== fresh.nodeName) { old.replaceWith(fresh); return; }
  if (old.nodeType === Node.TEXT_NODE) { if (old.data !== fresh.data) old.data = fresh.data; return; }
  if (old.nodeName !== "DETAILS") [...old.attributes].forEach(one => { if (!fresh.hasAttribute(one.name)) old.removeAttribute(one.name); });
  [...fresh.attributes].forEach(one => { if (one.name !== "open" && old.getAttribute(one.name) !== one.value) old.setAttribute(one.name, one.value); });
  const before = [...old.childNodes], after = [...fresh.childNodes];
  after.forEach((one, i) => i < before.length ? morph(before[i], one) : old.append(one));
  before.slice(after.length).forEach(one => one.remove());
};
const renew = (part, text) => {
  const fresh = document.createElement("template");
  fresh.innerHTML = `<${part.nodeName}>${text}</${part.nodeName}>`;
  fresh.content.querySelectorAll(".command").forEach(one => one.append(element("button", {type: "button", class: "quiet copy"}, "Copy")));
  if (page === "game") part.replaceChildren(...fresh.content.firstChild.childNodes); else {
    [...part.attributes].forEach(one => fresh.content.firstChild.setAttribute(one.name, one.value));
    morph(part, fresh.content.firstChild);
  }
  watchCharts(part);
};
const refusal = text => element("p", {class: "wrong", role: "alert"}, text);
const unknown = element("p", {class: "notice warn", role: "alert", hidden: ""});
form.after(unknown);
// What is wrong stands where the answer would: an old answer beside it would seem to be that of the new question.
const refuse = (text, early = false) => {
  controls.find(one => new RegExp(`^${one.name}\\b`).test(text))?.closest(".rule").classList.add("wrong");
  const box = refusal(text);
  if (page === "play" && at("answer") && tableOf === answersOf()) { at("answer").querySelector(".wrong")?.remove(); at("answer").append(box); return; }
  report.replaceChildren(box); at("rest")?.replaceChildren();
  if (!early) at("details")?.replaceChildren();
  if (page === "game") forgetPrices();
  if (page === "count") hideOld(text);
  if (page === "play") at("record").hidden = true;
};
// Time that passes without a first result is shown in its place.
const showWaiting = signal => {
  if (signal.aborted || page === "play" || (report.childElementCount && !report.querySelector("noscript, :scope > .progress:only-child"))) return;
  const bar = element("p", {class: "progress"}, element("progress", {}), element("span", {})), began = performance.now();
  report.replaceChildren(bar);
  const clock = setInterval(() => {
    if (signal.aborted || !bar.isConnected) { clearInterval(clock); return; }
    bar.lastChild.textContent = `${page === "count" ? "making the tables of the shoe" : "computing"}, ${Math.round((performance.now() - began) / 1000)} s`;
  }, 250);
};
const showDetails = async (name, of, signal) => {
  const part = at("details");
  part.ariaBusy = "true";
  try {
    const answer = await fetched(`report/${name}?${of}`, {signal}), text = await answer.text();
    if (signal.aborted) return;
    renew(part, answer.ok ? text : "");
    if (answer.status >= 500) part.append(refusal(text)); // wrong input is refused with the report
  } catch (error) {
    if (!signal.aborted) part.replaceChildren();
    throw error;
  } finally { if (!signal.aborted) part.ariaBusy = "false"; }
};
// They outlive the requests of a report of the same question.
const renewIndices = of => {
  if (indicesOf === String(of)) return;
  indexing.abort(); indexing = new AbortController();
  const {signal} = indexing;
  indicesOf = String(of);
  if (indicesGame !== played() || !at("details").childElementCount) at("details").innerHTML = computing;
  indicesGame = played();
  showDetails("indices", of, signal).catch(() => { if (!signal.aborted) indicesOf = ""; });
};
const update = async () => {
  running.abort(); running = new AbortController(); halted = false;
  const {signal} = running, of = query(), options = {signal};
  shownAddress = location.search;
  controls.forEach(one => one.closest(".rule").classList.remove("wrong"));
  document.querySelectorAll("[data-shows]").forEach(one => { one.hidden = one.dataset.shows !== at("dealer_shows").value; });
  document.querySelectorAll("nav a:not([href^='contest'])").forEach(link => { link.search = new URLSearchParams([...of].filter(([name]) => ["rules", "set"].includes(name))); });
  if (at("text")) {
    try { sessionStorage.setItem(page, at("text").value); } catch { sessionStorage.removeItem(page); } // too long a text is refused below
    if (page === "chart" && !at("text").value.trim()) { say(""); report.replaceChildren(); report.ariaBusy = "false"; return; }
    Object.assign(options, {method: "POST", body: at("text").value});
  }
  if (page === "play") {
    dueOf = gameOf();
    Object.assign(options, {method: "POST", body: answers()});
    if (fresh) of.set("new", "yes");
    if (hinted) of.set("hint", "yes");
    fresh = hinted = false;
  }
  if (page !== "play") say("computing …");
  report.ariaBusy = "true";
  const waits = setTimeout(showWaiting, 700, signal);
  if (page === "count") renewIndices(of);
  try {
    for (let again = AGAIN, more = true; more;) {
      const answer = await fetched(`report/${page}?${of}`, options), text = await answer.text();
      if (signal.aborted) return;
      clearTimeout(waits);
      if (answer.status === 503 && go && again--) { say(text); await pause(1000, signal); continue; }
      say(""); report.ariaBusy = "false";
      const early = answer.status === 425; // more rounds may do
      if (go) go.disabled = !answer.ok && !early;
      if (!answer.ok && !(early && report.textContent === text)) refuse(text, early); // once: it is read aloud
      if (early) { go.textContent = "Stop"; say("playing …"); continue; }
      if (!answer.ok) {
        if (answer.status === 503 && go) { halted = true; go.textContent = "Go on"; go.disabled = false; }
        else if (go) go.textContent = "Done";
        return false;
      }
      const [head, rest] = text.split("<!-- rest -->"); // what follows the questions of a page
      renew(report, head);
      if (at("rest")) renew(at("rest"), rest || "");
      if (page === "count") afterCount();
      if (page === "play") afterTable();
      more = go && report.querySelector("progress");
      if (go) { go.textContent = more ? "Stop" : "Done"; go.disabled = !more; if (more) say("playing …"); }
    }
    if (page === "game") await afterGame(of, signal);
    return true;
  } catch (error) {
    if (error.name === "AbortError") return;
    clearTimeout(waits); say(""); report.ariaBusy = "false";
    if (!report.querySelector("h1")) report.replaceChildren(); // nothing is waited for
  }
};
const changed = () => {
  if (!presets) return; // the first report asks for what has changed before
  unknown.hidden = true;
  if (page === "play") renewDue();
  const search = `?${address()}`;
  if (search !== location.search) history.pushState(null, "", search);
  update();
};
at("undo").addEventListener("click", () => { controls.forEach(one => put(one, presets[preset.value][one.name])); changed(); });
preset.addEventListener("change", () => { controls.forEach(one => put(one, presets[preset.value][one.name])); changed(); });
controls.forEach(one => {
  const other = one.parentElement.querySelector(".other");
  one.addEventListener("change", () => {
    if (one.value || !other) { changed(); return; }
    other.hidden = false; other.value = ""; other.focus();
  });
  other?.addEventListener("change", () => { if (other.value.trim()) { put(one, other.value.trim()); one.focus(); changed(); } });
  other?.addEventListener("blur", () => { other.hidden = true; if (!one.value) fill(); });
});
form.addEventListener("submit", event => event.preventDefault());
ask?.addEventListener("submit", event => { event.preventDefault(); if (!go) changed(); });
const pasted = page === "chart" ? at("text") : null; // a chart is checked once it is pasted, or its file dropped
pasted?.addEventListener("paste", () => setTimeout(changed));
pasted?.addEventListener("dragover", event => event.preventDefault());
const readChart = async file => { pasted.value = await file.text(); changed(); };
pasted?.addEventListener("drop", event => {
  const [file] = event.dataTransfer.files;
  if (!file) { setTimeout(changed); return; }
  event.preventDefault();
  readChart(file);
});
at("file")?.addEventListener("change", () => {
  const [file] = at("file").files;
  at("file").value = ""; // so that the same file, corrected, can be chosen again
  if (file) readChart(file);
});
at("sample")?.addEventListener("click", () => { pasted.value = at("sample").value; changed(); });
// A command is copied by its button, a text of the best chart by a click on it, or by Enter.
const copy = async event => {
  const text = event.target.closest("#report details pre") || event.target.closest(".copy")?.parentElement.querySelector("pre");
  if (!text || (event.key && event.key !== "Enter")) return;
  await navigator.clipboard.writeText(text.textContent);
  say("copied");
};
["click", "keydown"].forEach(kind => at("main").addEventListener(kind, copy));
if (go) {
  ask.addEventListener("change", changed);
  go.addEventListener("click", () => {
    if (halted) { update(); return; }
    halted = true; running.abort(); report.ariaBusy = "false"; say("stopped"); go.textContent = "Go on";
    if (!report.querySelector("h1")) report.replaceChildren(); // nothing is waited for
  });
}
addEventListener("popstate", () => { if (location.search !== shownAddress) { fill(); fillAsked(); update(); } }); // else a fragment
addEventListener("DOMContentLoaded", async () => { // when all scripts have run
  fillAsked();
  presets = await (await fetched("presets")).json();
  fill();
  if (page === "play") beginPlay();
  update();
});
