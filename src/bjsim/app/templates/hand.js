"use strict";
// The page Hand: a total asks which hand is meant, and hands can be tapped card by card.
let picked = "", up = ""; // cards that are tapped, of the person and of the dealer
const askFor = hand => { at("hand").value = hand; changed(); };
at("hand").addEventListener("input", () => { picked = up = ""; });
at("main").addEventListener("click", event => {
  const button = event.target.closest("button");
  if (button?.matches(".choices button, .example")) { picked = up = ""; askFor(button.value); }
  if (!button?.matches(".picker button")) return;
  const most = at("dealer_shows").value === "both" ? 2 : 1, [, cards, dealer] = at("hand").value.match(/^(.*?)\s+(?:v|vs|against)\.?\s+(.*)$/i) || ["", "", ""];
  if (button.dataset.for === "dealer") up = (up.length < most ? up : "") + button.value;
  else picked = (picked.length < 2 ? picked : "") + button.value;
  if ((button.dataset.for === "dealer" ? up.length : picked.length / 2 * most) < most) { say("one more card"); return; }
  say("");
  askFor(`${picked.length === 2 ? [...picked].join(",") : cards} v ${up.length === most ? [...up].join(",") : dealer}`);
  if (picked.length === 2) picked = "";
  if (up.length === most) up = "";
});
