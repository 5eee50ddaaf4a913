/** Values that are made at first use and then cached. */

interface Known<Key, Made> {
  get(key: Key): Made | undefined;
  set(key: Key, made: Made): unknown;
}

/** Returns a map's value for a key. If there is none, makes it from the key and stores it. */
export function getOrCreate<Key, Made>(
  known: Known<Key, Made>,
  key: Key,
  make: (key: Key) => Made,
): Made {
  let made = known.get(key);
  if (made === undefined) {
    made = make(key);
    known.set(key, made);
  }
  return made;
}

/** Returns a function that computes its result once per object, and forgets it with the object. */
export function memoizeByObject<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const known = new WeakMap<Of, Made>();
  return (of) => getOrCreate(known, of, make);
}
