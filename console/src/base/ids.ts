/** Unguessable ids. Not `randomUUID`: browsers offer it only with TLS. */

/** 32 random hexadecimal digits. */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
