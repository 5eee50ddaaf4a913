/** Notifications and panics are found in the wire bytes whatever the cuts. */
import { expect, it } from "vitest";
import { createWireTap } from "../../src/storage/wire-tap.ts";

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const notification = (channel: string, payload: string) =>
  message("A", Buffer.concat([Buffer.alloc(4), Buffer.from(`${channel}\0${payload}\0`)]));
const error = (severity: string, text: string) =>
  message("E", Buffer.from(`S${severity}\0V${severity}\0C53100\0M${text}\0\0`));

it("finds each of them, cut at every byte, and takes no other message for one", () => {
  const bytes = Buffer.concat([
    message("I", Buffer.alloc(0)),
    message("D", Buffer.from("A looks like one: A\0\0\0\x09")),
    notification("one", "grüße"),
    error("ERROR", "PANIC is only in its text"),
    notification("two", ""),
    error("PANIC", "no space left on device"),
    message("Z", Buffer.from("I")),
  ]);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const got: string[][] = [];
    const tap = createWireTap({
      notification: (channel, payload) => got.push([channel, payload]),
      panic: (text) => got.push([text]),
    });
    tap(bytes.subarray(0, cut));
    tap(bytes.subarray(cut));
    expect(got).toEqual([["one", "grüße"], ["two", ""], ["no space left on device"]]);
  }
});
