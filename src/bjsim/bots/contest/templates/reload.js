"use strict";
// Reload the page while the contest is not over. What a reader has opened, and where, survives in sessionStorage, which
// also works for a file. Without storage the browser keeps at least the position.
{
  const seconds = Number(document.body.dataset.reload), key = `bjsim ${location.pathname}`;
  const store = { read: () => null, write: () => {} };
  try {
    const storage = window.sessionStorage;
    store.read = () => JSON.parse(storage.getItem(key));
    store.write = value => storage.setItem(key, JSON.stringify(value));
  } catch { /* refused for this page */ }
  // The position is kept relative to the last heading above it, as sections grow.
  const heading = () => [...document.querySelectorAll("h2")].findLast(each => each.getBoundingClientRect().top < 1);
  const folded = () => [...document.querySelectorAll("details")];
  window.addEventListener("load", () => {
    const before = store.read();
    if (before?.reloaded) {
      store.write({ auto: before.auto });
      const states = new Map(before.details); // one that is new stays as it comes
      folded().forEach(details => { details.open = states.get(details.id) ?? details.open; });
      if (before.all && document.getElementById("all-columns")) document.getElementById("all-columns").checked = true;
      document.dispatchEvent(new CustomEvent("restore", { detail: before }));
      document.getElementById(before.focus)?.focus({ preventScroll: true });
      const from = document.getElementById(before.heading)?.getBoundingClientRect().top;
      window.scrollTo(before.x, from === undefined ? before.y : scrollY + from - before.top);
      setTimeout(() => { history.scrollRestoration = "auto"; }, 1000);  // not earlier: the browser would scroll too
    }
    if (!seconds) return;
    const auto = document.getElementById("auto");
    auto.checked = before?.auto ?? true;
    auto.addEventListener("change", () => store.write({ auto: auto.checked }));
    document.getElementById("live").hidden = false;
    const stopped = () => document.getElementById("stopped")?.hidden === false;  // a server that shows this page
    const busy = () => document.hidden || stopped() || !auto.checked || !getSelection().isCollapsed
      || document.getElementById("replay")?.contains(document.activeElement);
    const again = () => {
      if (busy()) return setTimeout(again, 1000);
      const state = { reloaded: true, auto: auto.checked, x: scrollX, y: scrollY, focus: document.activeElement.id };
      state.heading = heading()?.id;
      state.top = heading()?.getBoundingClientRect().top;
      state.details = folded().filter(details => details.id).map(details => [details.id, details.open]);
      state.all = document.getElementById("all-columns")?.checked;
      document.dispatchEvent(new CustomEvent("keep", { detail: state }));
      store.write(state);
      if (store.read()) history.scrollRestoration = "manual";
      location.reload();
    };
    setTimeout(again, 1000 * seconds);
  });
}
