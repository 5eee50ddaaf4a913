/**
 * Reads two things out of the wire-protocol bytes that the embedded database sends to its clients.
 * Notifications: PGlite's own listeners see nothing of what arrives over its socket, and PostgreSQL hands a notification
 * to the session it shares with every client, so it would end in whichever connection was talking.
 * Panics: after one (a full disk) PGlite 0.5.14 goes on as if nothing had happened, and the next statement never ends.
 */

export interface WireTap {
  notification(channel: string, payload: string): void;
  panic(message: string): void;
}

const notificationType = 65; // A
const errorType = 69; // E

/** The fields of an ErrorResponse: each a letter and a zero-terminated text. */
function errorFields(body: Buffer): Map<string, string> {
  const parts = body.toString().split("\0");
  return new Map(parts.map((part) => [part.slice(0, 1), part.slice(1)]));
}

/** Give the returned function each piece of output in order; it finds the messages whatever the cuts. */
export function createWireTap(tap: WireTap): (bytes: Uint8Array) => void {
  // Type and length of a message: 1 + 4 bytes, collected across pieces.
  const head = new Uint8Array(5);
  const length = new DataView(head.buffer);
  let headLength = 0;
  let bodyLeft = 0;
  let body: Uint8Array[] | undefined;

  function begin(): void {
    bodyLeft = length.getInt32(1) - 4;
    body = head[0] === notificationType || head[0] === errorType ? [] : undefined;
  }

  function finish(): void {
    headLength = 0;
    if (body === undefined) return;
    const bytes = Buffer.concat(body);
    body = undefined;
    if (head[0] === notificationType) {
      // int32 process id, then two zero-terminated strings.
      const [channel = "", payload = ""] = bytes.subarray(4).toString().split("\0");
      tap.notification(channel, payload);
      return;
    }
    const fields = errorFields(bytes);
    if (fields.get("V") === "PANIC") tap.panic(fields.get("M") ?? "");
  }

  return (bytes) => {
    let at = 0;
    while (at < bytes.length) {
      if (headLength < 5) {
        head[headLength++] = bytes[at++]!;
        if (headLength < 5) continue;
        begin();
      } else {
        const take = Math.min(bodyLeft, bytes.length - at);
        body?.push(bytes.slice(at, at + take));
        at += take;
        bodyLeft -= take;
      }
      if (bodyLeft === 0) finish();
    }
  };
}
