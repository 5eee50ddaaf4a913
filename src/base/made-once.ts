/** What is made at its first use and then known. */

interface Known<Key, Made> {
  get(key: Key): Made | undefined;
  set(key: Key, made: Made): unknown;
}

/** What a map has under a key; made of the key, and put there, where that is nothing. */
export function getOrMake<Key, Made>(
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

/** A function that is computed once for each object, and forgotten with it. */
export function perObject<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const known = new WeakMap<Of, Made>();
  return (of) => getOrMake(known, of, make);
}
