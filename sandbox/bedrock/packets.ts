/** The binary frames of AWS's event streams, written from their description: the gateway reads them with AWS's own library. */
import { crc32 } from "node:zlib";
import type { Frame, Packets } from "../vendor.ts";

/** One header of the type text. */
function header(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name), Buffer.from(value)];
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([Buffer.of(key.length), key, Buffer.of(7), length, text]);
}

function packet(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const head = Buffer.concat(Object.entries(headers).map((pair) => header(...pair)));
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(12 + head.length + body.length + 4, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const whole = Buffer.concat([prelude, head, body]);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(whole));
  return Buffer.concat([whole, check]);
}

/** An event of the protocol in a frame, or as one; its error as an exception. */
export function packetOf({ event, data }: Frame, packets: Packets): Buffer {
  const type = { ":content-type": "application/json" };
  if (event === "error") {
    const { error } = JSON.parse(data) as { error: { message: string; type?: string } };
    const kind = error.type?.endsWith("Exception") ? error.type : "modelStreamErrorException";
    return packet(
      { ":exception-type": kind, ...type, ":message-type": "exception" },
      JSON.stringify({ message: error.message, originalStatusCode: 500 }),
    );
  }
  if (packets === "events")
    return packet({ ":event-type": event ?? "", ...type, ":message-type": "event" }, data);
  return packet(
    { ":event-type": "chunk", ...type, ":message-type": "event" },
    JSON.stringify({ bytes: Buffer.from(data).toString("base64"), p: "abcdefgh" }),
  );
}
