// A link to a hand opens it.
const open = () => { const at = document.getElementById(location.hash.slice(1)); if (at?.tagName === "DETAILS") at.open = true; };
window.addEventListener("hashchange", open);
open();
