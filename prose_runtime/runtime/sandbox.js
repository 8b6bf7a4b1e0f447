// What a composite's program finds around it: `rlm`, `console`, the state object, and no clock, chance or host.
// Lines that hold only a comment are dropped and the rest is joined into one line, so that every other line number in
// a stack belongs to the program; each statement therefore ends with a semicolon.
(() => {
  const { parse, stringify } = JSON;
  const NativePromise = Promise;
  const NativeDate = Date;
  const waiting = new Map();
  const failures = new WeakMap();
  const references = new WeakMap();
  let asked = [];
  let said = [];
  let end = null;
  let last = 0;

  // Names of places. A call is named by where it is asked from, which is the chain of what was awaited before, and not
  // by a running number: replies may arrive in any order. A place is a line of turns: the first call from a place is
  // the next turn of the same line (1, 2, 3), its siblings open lines of their own (1.2, 1.3), and behind a join such
  // as Promise.all the line goes on in its next stage (1&1, 1&2).
  const places = new Map();
  const digest = text => {
    let a = 0xdeadbeef;
    let b = 0x41c6ce57;
    for (let i = 0; i < text.length; i++) {
      a = Math.imul(a ^ text.charCodeAt(i), 2654435761);
      b = Math.imul(b ^ text.charCodeAt(i), 1597334677);
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    return `~${(4294967296 * (2097151 & b) + (a >>> 0)).toString(36)}`;
  };
  const place = (line, stage, turn) => {
    const base = line.length > 40 ? digest(line) : line;
    const key = `${base}|${stage}|${turn}`;
    if (!places.has(key)) places.set(key, { base, stage, turn, calls: 0 });
    return places.get(key);
  };
  const named = ({ base, stage, turn }) =>
    stage || turn ? `${base && base + '-'}${stage ? stage + '&' : ''}${turn}` : base;
  let here = place('', 0, 0);
  const callPlace = () => {
    const next = place(here.base, here.stage, here.turn + 1);
    return ++here.calls === 1 ? next : place(`${named(next)}.${here.calls}`, 0, 0);
  };
  const joins = new Map();
  const joinPlace = () => {
    const line = `${here.base}|${here.stage}`;
    const count = (joins.get(line) ?? 0) + 1;
    joins.set(line, count);
    return count === 1 ? place(here.base, here.stage + 1, 0) : place(`${named(here)}&${count}`, 0, 0);
  };
  const behind = (from, { at, made }) => (made === from ? at : place(`${named(from)}+${named(at)}`, 0, 0));

  // A promise that knows its place. It is no plain promise, so `await` goes through `then` here.
  class Tracked extends NativePromise {
    #origin;
    constructor(executor, origin) {
      super(executor);
      this.#origin = origin;
    }
    static get [Symbol.species]() {
      return NativePromise;
    }
    then(onValue, onError) {
      const from = here;
      const origin = this.#origin;
      const entering = handler =>
        typeof handler === 'function' && origin
          ? value => {
              here = behind(from, origin);
              return handler(value);
            }
          : handler;
      return super.then(entering(onValue), entering(onError));
    }
  }
  for (const join of ['all', 'allSettled', 'any', 'race']) {
    const native = NativePromise[join];
    const tracked = {
      [join](promises) {
        const joined = native.call(this, promises);
        return this === NativePromise ? new Tracked(yes => yes(joined), { made: here, at: joinPlace() }) : joined;
      },
    };
    Object.defineProperty(NativePromise, join, { value: tracked[join], writable: true, configurable: true });
  }

  // Values. An object that a service gave prints as its JSON.
  const printable = value => {
    if (value === null || typeof value !== 'object') return value;
    if (!Array.isArray(value)) {
      const print = { value: () => stringify(value), enumerable: false, configurable: true, writable: true };
      Object.defineProperty(value, Symbol.toPrimitive, print);
      if (!Object.hasOwn(value, 'toString')) Object.defineProperty(value, 'toString', print);
    }
    for (const key of Object.keys(value)) printable(value[key]);
    return value;
  };
  const text = value =>
    typeof value === 'string' ? value : value && typeof value === 'object' ? stringify(value) : String(value);
  const referring = (key, value) =>
    value && typeof value === 'object' && references.has(value) ? { '&slot': references.get(value) } : value;

  globalThis.rlm = function rlm(brief, context, options) {
    const { stack } = new Error();
    const origin = { made: here, at: callPlace() };
    const where = named(origin.at);
    const id = ++last;
    const { use, model, compositeState } = options ?? {};
    return new Tracked((resolve, reject) => {
      waiting.set(id, [resolve, reject, stack]);
      const who = typeof use === 'function' ? String(use) : use;
      const state = stringify({ use: who ?? null, state: compositeState ?? null }, referring);
      const words = brief === undefined || brief === null ? null : text(brief);
      const request = stringify({ context: context ?? null, model: model ?? null });
      asked.push({ id, at: where, brief: words, stack, ...parse(request), ...parse(state) });
    }, origin);
  };
  globalThis.console = {};
  for (const level of ['log', 'info', 'warn', 'error', 'debug']) {
    console[level] = (...words) => {
      said.push({ text: words.map(text).join(' '), stack: new Error().stack });
    };
  }

  // Neither clock nor chance: a resumed run has to go the same way again.
  const refuse = (what, instead) => () => {
    throw new Error(`a composite has no ${what}: ${instead}`);
  };
  const noClock = refuse('clock', 'pass the time in as an input');
  function Clockless(...parts) {
    return new.target && parts.length ? Reflect.construct(NativeDate, parts, new.target) : noClock();
  }
  Object.defineProperty(Clockless, 'name', { value: 'Date' });
  Clockless.prototype = NativeDate.prototype;
  Clockless.prototype.constructor = Clockless;
  Clockless.UTC = NativeDate.UTC;
  Clockless.parse = NativeDate.parse;
  Clockless.now = noClock;
  globalThis.Date = Clockless;
  Math.random = refuse('random numbers', 'pass a seed in as an input, or ask a service');
  for (const name of ['performance', 'WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics']) {
    delete globalThis[name];
  }

  // What the host says, and what it hears.
  const described = error => {
    try {
      const known = error instanceof Error;
      const cause = known && error.cause instanceof Error ? failures.get(error.cause) : undefined;
      const [name, message] = known ? [error.name, error.message] : [null, text(error)];
      return { name: name && String(name), message: String(message), stack: known ? String(error.stack) : '', cause };
    } catch {
      return { name: null, message: 'an error that cannot be shown', stack: '' };
    }
  };
  const failed = error => {
    const call = error !== null && typeof error === 'object' ? failures.get(error) : undefined;
    end = call === undefined ? { thrown: described(error) } : { failed: { call } };
  };
  let state = null;
  const finished = value => {
    try {
      end = { value: parse(stringify({ given: value !== undefined, result: value, state })) };
    } catch (error) {
      end = { unserialisable: described(error) };
    }
  };
  const verbs = {
    open(given) {
      const reference = ({ text, slot }) => {
        if (!slot) return text;
        const distinct = new String(text);
        references.set(distinct, slot);
        return distinct;
      };
      state = given.values;
      for (const [name, value] of Object.entries(given.slots)) {
        state[name] = Array.isArray(value) ? value.map(reference) : reference(value);
      }
      const shared = { get: () => state, set: value => (state = value), enumerable: true, configurable: false };
      for (const name of ['__compositeState', '__controlState']) Object.defineProperty(globalThis, name, shared);
      return stringify(state);
    },
    start(_, program) {
      program().then(finished, failed);
    },
    settle({ id, value }) {
      waiting.get(id)[0](printable(value));
      waiting.delete(id);
    },
    reject({ id, name, message, kind, service }) {
      const [, reject, stack] = waiting.get(id);
      const error = kind ? Object.assign(new Error(message), { kind, service }) : new TypeError(message);
      if (kind) failures.set(error, id);
      Object.defineProperty(error, 'name', { value: name, writable: true, configurable: true });
      Object.defineProperty(error, 'stack', { value: stack, writable: true, configurable: true });
      waiting.delete(id);
      reject(error);
    },
    take() {
      const heard = stringify({ asked, said, end });
      asked = [];
      said = [];
      return heard;
    },
  };
  return (verb, given, program) => verbs[verb](given ? parse(given) : null, program);
})()
