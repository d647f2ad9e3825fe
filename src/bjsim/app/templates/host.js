"use strict";
// Says when the server has stopped.
setInterval(() => {
  const stopped = document.getElementById("stopped");
  fetch("/alive").then(() => { stopped.hidden = true; }, () => { stopped.hidden = false; });
}, 1000);
