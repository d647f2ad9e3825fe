// Sort by a heading when it is clicked; a second click reverses the order.
const table = document.getElementById("standings");
const sort = (column, up) => {
  table.querySelectorAll("th[aria-sort]").forEach(th => th.removeAttribute("aria-sort"));
  table.tHead.rows[0].cells[column].setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = row => { const cell = row.cells[column]; return cell.dataset.v ?? cell.textContent; };
  const rows = [...table.tBodies[0].rows].sort((a, b) => {
    const [x, y] = [key(a), key(b)], difference = x - y;
    return (up ? 1 : -1) * (Number.isNaN(difference) ? x.localeCompare(y) : difference);
  });
  table.tBodies[0].append(...rows);
};
table.querySelectorAll("thead th").forEach((th, column) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = th.textContent;
  th.replaceChildren(button);
  button.addEventListener("click", () => sort(column, th.getAttribute("aria-sort") !== "ascending"));
});
document.addEventListener("keep", ({ detail: state }) => {
  const th = table.querySelector("th[aria-sort]");
  if (th) state.sort = [th.cellIndex, th.getAttribute("aria-sort") === "ascending"];
});
document.addEventListener("restore", ({ detail: state }) => { if (state.sort) sort(...state.sort); });
// A link to the rules opens them.
const open = () => { const at = document.getElementById(location.hash.slice(1)); if (at?.tagName === "DETAILS") at.open = true; };
window.addEventListener("hashchange", open);
open();
// Replay
const stored = document.getElementById("hands");
if (stored) {
  const hands = JSON.parse(stored.textContent), $ = id => document.getElementById(id);
  let step = 0;
  hands.forEach((hand, number) => $("hand").append(new Option(hand.title, number)));
  const cards = letters => [...letters].map(letter => {
    const card = document.createElement("span");
    card.className = "card";
    if (letter === "#") {
      card.classList.add("back");
      card.setAttribute("role", "img");
      card.setAttribute("aria-label", "face down");
    } else {
      card.textContent = letter === "T" ? "10" : letter;
    }
    return card;
  });
  const show = () => {
    const hand = hands[$("hand").value], [text, dealer, seats, points] = hand.steps[step];
    $("step").textContent = `${step + 1} of ${hand.steps.length}. ${text}`;
    $("dealer").replaceChildren(...cards(dealer));
    $("points").textContent = points || "";
    $("seats").replaceChildren(...seats.flatMap((_, number) => {
      let at = step;
      while (!hand.steps[at][2][number]) at--;  // 0: unchanged since the step before
      const [chips, hands] = hand.steps[at][2][number];
      return hands.map(([held, stake, status, points], index) => {
        const row = document.createElement("tr");
        const name = hand.names[number] + (hands.length > 1 ? `, hand ${index + 1}` : "");
        [name, held, stake, chips, status].forEach((value, column) => {
          if (column === 3 && index) return;  // one cell of chips for all hands of the seat
          const cell = document.createElement(column ? "td" : "th");
          if (!column) cell.scope = "row";
          if (column === 3) cell.rowSpan = hands.length;
          if (column < 2 || column === 4) cell.className = "left";
          if (column === 1) {
            const box = document.createElement("span");
            box.className = "cards";
            box.append(...cards(value));
            cell.append(box, ` ${points || ""}`);
          } else {
            cell.textContent = value;
          }
          row.append(cell);
        });
        return row;
      });
    }));
    $("back").disabled = $("start").disabled = step === 0;
    $("next").disabled = $("end").disabled = step === hand.steps.length - 1;
  };
  const go = to => { step = Math.max(0, Math.min(to, hands[$("hand").value].steps.length - 1)); show(); };
  const choose = number => { $("hand").value = number; go(Infinity); };  // the whole hand first
  const linked = () => {
    const number = hands.findIndex(hand => location.hash === `#hand=${hand.hand}`);
    if (number < 0) return false;
    choose(number);
    $("replay-title").scrollIntoView();
    return true;
  };
  $("hand").addEventListener("change", () => {
    go(Infinity);
    history.replaceState(null, "", `#hand=${hands[$("hand").value].hand}`);
  });
  $("start").addEventListener("click", () => go(0));
  $("back").addEventListener("click", () => go(step - 1));
  $("next").addEventListener("click", () => go(step + 1));
  $("end").addEventListener("click", () => go(Infinity));
  document.addEventListener("keep", ({ detail: state }) => Object.assign(state, { hand: hands[$("hand").value].title, step }));
  document.addEventListener("restore", ({ detail: state }) => {
    const number = hands.findIndex(hand => hand.title === state.hand);
    if (number >= 0) { choose(number); go(state.step); }
  });
  window.addEventListener("hashchange", linked);
  $("replay").hidden = false;
  if (!linked()) choose(0);
}
