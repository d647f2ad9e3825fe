// Python in a worker: answers [name of a report, its query, its text] with {status, text}.
const PYODIDE = new URL({{ pyodide|tojson }}, self.location).href;
const loaded = async name => {
  const found = await fetch(name);
  if (!found.ok) throw new Error(`${name}: ${found.status} ${found.statusText}`);
  return found.arrayBuffer();
};
// An image takes the place of those of other versions.
const keep = async (cache, key, image) => {
  const old = (await cache.keys()).filter(one => one.url !== key);
  await Promise.all(old.map(one => cache.delete(one)));
  await cache.put(key, image);
};
// Python as it has started: after that its memory is kept, and the next start, of this visit or another, goes on from it.
const started = async () => {
  const {loadPyodide, version} = await import(`${PYODIDE}pyodide.mjs`), key = PYODIDE + version;
  const cache = await self.caches?.open("bjsim-python").catch(() => null), kept = await cache?.match(key);
  try {
    if (kept) return await loadPyodide({indexURL: PYODIDE, _loadSnapshot: await kept.arrayBuffer()});
  } catch { await cache.delete(key); }
  const python = await loadPyodide({indexURL: PYODIDE, _makeSnapshot: Boolean(cache)});
  if (cache) keep(cache, key, new Response(python.makeMemorySnapshot())).catch(() => {}); // there may be no room
  return python;
};
const ready = (async () => {
  const app = loaded("app.zip"), python = await started();
  await python.loadPackage("numpy", {messageCallback: () => {}});
  python.unpackArchive(await app, "zip", {extractDir: "/app"});
  python.runPython("import sys; sys.path.insert(0, '/app')");
  const {answer} = python.pyimport("bjsim.app.reports");
  self.postMessage({ready: true});
  return answer;
})();
ready.catch(error => self.postMessage({broken: String(error.message || error)}));
self.onmessage = async ({data}) => {
  const answer = await ready;
  try {
    const found = answer(...data), [status, text] = found.toJs();
    found.destroy();
    self.postMessage({status, text});
  } catch (error) {
    const why = String(error.message || error).trim().split("\n").pop();
    self.postMessage(error.type ? {status: 500, text: `bjsim has failed: ${why}`} : {broken: why}); // an error of Python has a type
  }
};
