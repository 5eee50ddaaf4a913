/**
 * Reads notifications out of the wire-protocol bytes that the embedded database sends to its clients.
 * PGlite's own listeners see nothing of what arrives over its socket, and PostgreSQL hands a notification to the
 * session it shares with every client, so it would end in whichever connection was talking (measured on 0.5.14).
 */

/** A tap: give it each piece of output in order; it finds the messages whatever the cuts. */
export function createNotificationTap(
  receive: (channel: string, payload: string) => void,
): (bytes: Uint8Array) => void {
  // Type and length of a message: 1 + 4 bytes, collected across pieces.
  const head = new Uint8Array(5);
  let headLength = 0;
  let bodyLeft = 0;
  let body: Uint8Array[] | undefined;

  function finish(): void {
    headLength = 0;
    if (body === undefined) return;
    // int32 process id, then two zero-terminated strings.
    const [channel = "", payload = ""] = Buffer.concat(body).subarray(4).toString().split("\0");
    body = undefined;
    receive(channel, payload);
  }

  return (bytes) => {
    let at = 0;
    while (at < bytes.length) {
      if (headLength < 5) {
        head[headLength++] = bytes[at++]!;
        if (headLength < 5) continue;
        bodyLeft = new DataView(head.buffer).getInt32(1) - 4;
        body = head[0] === 65 /* A, NotificationResponse */ ? [] : undefined;
        if (bodyLeft === 0) finish();
        continue;
      }
      const take = Math.min(bodyLeft, bytes.length - at);
      body?.push(bytes.slice(at, at + take));
      at += take;
      bodyLeft -= take;
      if (bodyLeft === 0) finish();
    }
  };
}
