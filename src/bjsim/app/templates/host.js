"use strict";
// Who answers a page: here the server that sent it. Says when that has stopped.
const HERE = new URL("..", document.currentScript.src);
const askHost = (address, options) => fetch(new URL(address, HERE), options);
setInterval(() => {
  const stopped = document.getElementById("stopped");
  askHost("alive").then(() => { stopped.hidden = true; }, () => { stopped.hidden = false; });
}, 1000);
