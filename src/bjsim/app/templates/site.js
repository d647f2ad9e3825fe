"use strict";
// Shows a page in a frame, so that Python outlives it, and answers what it asks: as known beforehand, or by Python.
const PAGES = document.body.dataset.pages.split(" ");
const KEPT = 400; // answers
const PATIENCE = 5000; // ms that a computation whose page has gone may go on while another waits
const REST = 30000; // ms after which a Python whose page has gone gives its memory back
const frame = document.getElementById("page"), state = document.getElementById("state");
const site = fetch("site.json").then(found => found.json());
const kept = new Map(), known = {};

const say = text => { state.textContent = text; state.hidden = !text; };

// One Python in a worker. It computes one answer at a time; what nobody waits for any more is not begun.
// One that `keeps` long computations that have begun is not ended for another question.
class Python {
  waiting = []; current = null; worker = null; isReady = false; keeps = false;

  start() {
    const worker = this.worker = new Worker("worker.js", {type: "module"});
    this.worker.onmessage = ({data}) => {
      if (worker !== this.worker) return; // it has been stopped
      if (data.broken) this.end(data.broken);
      else if (data.ready) { this.isReady = true; say(""); this.onready?.(); this.next(); }
      else { this.current.done(data.status, data.text); this.current = null; this.next(); }
    };
    this.worker.onerror = event => { event.preventDefault(); this.end(event.message || "its file cannot be loaded"); };
  }

  ask(question) {
    this.waiting.push(question);
    this.last = question;
    if (!this.worker) this.start();
    this.next();
    setTimeout(() => {
      if (!this.keeps && this.current?.isOver() && this.waiting.some(one => !one.isOver())) { this.stop(); this.start(); }
    }, PATIENCE);
  }

  next() {
    if (!this.isReady || this.current) return;
    this.waiting = this.waiting.filter(one => !one.isOver());
    this.current = this.waiting.shift() || null;
    if (!this.current) { if (this.isExtra) this.stop(); return; }
    this.keeps ||= this.current.isLong;
    this.worker.postMessage([this.current.name, this.current.query, this.current.text]);
  }

  rest() { if (this.isReady && (!this.current || this.isExtra) && this.last?.hasGone()) this.stop(); }

  stop() {
    this.worker.terminate();
    Object.assign(this, {worker: null, current: null, isReady: false, keeps: false});
  }

  end(why) {
    const all = [this.current, ...this.waiting].filter(Boolean);
    this.waiting = [];
    this.stop();
    say(`Python has stopped: ${why}`);
    all.forEach(one => one.done(503, `Python has stopped, and is started again by the next question: ${why}`));
  }
}
// One answers at once, one behind it computes what takes longer. An extra one, which ends after it, computes what else a page
// asks whose own report is a long one.
const now = new Python(), behind = new Python(), extra = Object.assign(new Python(), {isExtra: true});
const chosen = (reports, name) => {
  if (reports[name].worker === "now") return now;
  return reports[name].worker === "later" && reports[frame.contentDocument.body.dataset.page]?.worker === "long" ? extra : behind;
};
setInterval(() => { behind.rest(); extra.rest(); }, REST);

// An address whatever the order and the spelling of what it asks.
const plain = (name, query, only) => `${name}?${[...query].filter(([key]) => !only || only.includes(key)).map(pair => pair.join("=")).sort().join("&")}`;
const knownAnswer = async (name, query) => {
  const file = (await site).games[plain("", query, ["rules", "set"]).slice(1)];
  if (!file) return undefined;
  known[file] ??= fetch(file).then(found => found.json()).catch(() => ({}));
  return (await known[file])[plain(name, query)];
};

// What a page in the frame calls in place of `fetch`.
window.answer = async (address, {signal, body: text = ""} = {}, asker = null) => {
  mirror();
  const {presets, reports} = await site;
  if (address === "presets") return Response.json(presets);
  const [, name, search] = address.match(/^report\/(\w+)\?(.*)$/), query = new URLSearchParams(search);
  const found = text ? undefined : kept.get(plain(name, query)) ?? await knownAnswer(name, query);
  signal?.throwIfAborted();
  if (found !== undefined) return new Response(found);
  const hasGone = () => asker !== frame.contentDocument;
  return new Promise((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason));
    chosen(reports, name).ask({
      name, query: search, text, hasGone, isLong: reports[name].worker === "long",
      isOver: () => signal?.aborted || hasGone(),
      done: (status, given) => {
        if (status === 200 && reports[name].kept && !text) kept.set(plain(name, query), given);
        if (kept.size > KEPT) kept.delete(kept.keys().next().value);
        resolve(new Response(given, {status}));
      },
    });
  });
};

// The address of this page names the page in the frame and what it asks, as in #game?rules=easy.
const open = () => {
  const [, page, search] = location.hash.match(/^#(\w+)(\?.*)?$/) || [];
  const named = PAGES.includes(page) && (page !== "game" || search);
  frame.contentWindow.location.replace(named ? `${page}.html${search || ""}` : "first.html"); // whose figures are in it
};
const mirror = () => {
  const {search} = frame.contentWindow.location, {page} = frame.contentDocument.body?.dataset ?? {};
  if (!page) return;
  document.title = frame.contentDocument.title;
  history.replaceState({mirrored: true}, "", `#${page}${search}`);
};
window.mirrored = mirror; // what a page in the frame calls when its address has changed
addEventListener("hashchange", () => { if (!history.state?.mirrored) open(); });

frame.addEventListener("load", () => { mirror(); frame.focus(); });
open();

const begin = () => {
  if (!now.worker) now.start();
  if (!now.isReady) say("Python is being loaded for figures that are not known yet …");
};
now.onready = () => navigator.serviceWorker?.register("service-worker.js").catch(() => {}); // without it the site works, but not offline
setTimeout(begin, 1000);
