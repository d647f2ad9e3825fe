"use strict";
// Keeps all files of one version of the site, so that it opens at once and without a network.
const FILES = {{ files|tojson }}, PYODIDE = new URL({{ pyodide|tojson }}, location).href;
const HERE = `bjsim ${registration.scope} `, NAME = HERE + {{ version|tojson }};
const RUNTIME = {{ runtime|tojson }};

const fill = async () => {
  const cache = await caches.open(NAME);
  const lock = await (await fetch(`${PYODIDE}pyodide-lock.json`)).json();
  const python = [...RUNTIME, lock.packages.numpy.file_name].map(name => PYODIDE + name);
  await cache.addAll([...FILES, ...python].map(file => new Request(file, {cache: "no-cache"})));
};
const tidy = async () => {
  const old = (await caches.keys()).filter(name => name.startsWith(HERE) && name !== NAME);
  await Promise.all(old.map(name => caches.delete(name)));
};
self.addEventListener("install", event => event.waitUntil(fill()));
self.addEventListener("activate", event => event.waitUntil(tidy()));
self.addEventListener("fetch", event => {
  if (event.request.method !== "GET") return;
  const found = caches.match(event.request, {cacheName: NAME, ignoreSearch: true}); // pages have what they ask there
  // A host that strips .html has redirected, which no browser takes as the answer of a navigation.
  const plain = file => file?.redirected ? new Response(file.body, {headers: file.headers}) : file;
  event.respondWith(found.then(file => plain(file) || fetch(event.request)));
});
