"use strict";
// Who answers a page: here the page around it, which keeps Python. A page that is opened by itself goes there.
if (parent === self) location.replace(`./#${document.body.dataset.page}${location.search}`);
["pushState", "replaceState"].forEach(name => {
  const own = history[name].bind(history);
  history[name] = (...all) => { own(...all); parent.mirrored?.(); };
});
const askHost = (address, options) => parent.answer(address, options, document);
