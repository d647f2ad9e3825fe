"use strict";
// The page Start: what a table costs, from the report of its game.
const bet = document.getElementById("bet"), costs = [...document.querySelectorAll("[data-set]")], HOURLY = 70;
const show = () => costs.forEach(one => {
  const cost = -one.dataset.value * Number(bet.value) * HOURLY;
  one.textContent = cost > 0 ? `$${cost.toLocaleString("en-US", {minimumFractionDigits: 2, maximumFractionDigits: 2})}` : "\u2013";
});
costs.forEach(async one => {
  const query = new URLSearchParams({rules: one.dataset.rules});
  one.dataset.set.split(" ").forEach(set => query.append("set", set));
  const answer = await askHost(`report/game?${query}`, {}), page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (answer.ok) { one.dataset.value = page.querySelector(".means").dataset.value; show(); }
});
bet.addEventListener("input", show);
