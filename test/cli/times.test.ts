/** Times and days in commands: in UTC, whatever the machine's time zone, and valid in the calendar. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tollgate } from "../support/process.ts";

/** A gateway that keeps its requests. */
let gateway: Server;
const asked: (string | null)[] = [];
beforeAll(async () => {
  gateway = createServer((request, response) => {
    asked.push(new URL(request.url!, "http://x").searchParams.get("from"));
    response.setHeader("content-type", "application/json");
    response.end('{"data": []}');
  });
  gateway.listen(0, "127.0.0.1");
  await once(gateway, "listening");
});
afterAll(() => gateway.close());

const usage = (from: string) =>
  tollgate(
    [
      "usage",
      "--from",
      from,
      "--url",
      `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    ],
    { TOLLGATE_ADMIN_TOKEN: "token", TZ: "America/New_York" },
  );

it.each([
  ["2026-11-01", "2026-11-01T00:00:00.000Z"],
  ["2026-11-01T00:00", "2026-11-01T00:00:00.000Z"],
  ["2026-11-01 06:30:15.5", "2026-11-01T06:30:15.500Z"],
  ["2026-11-01T00:00:00Z", "2026-11-01T00:00:00.000Z"],
  ["2026-11-01T00:00+02:00", "2026-10-31T22:00:00.000Z"],
])("--from %s is %s, whatever the time zone of the machine", async (from, utc) => {
  expect(await usage(from)).toMatchObject({ code: 0 });
  expect(asked.pop()).toBe(utc);
});

it.each([
  "2026-02-29",
  "2026-11-31T00:00:00Z",
  "11/01/2026",
  "1",
  "2026-11-01T25:00",
  "today",
  "9999-12-31T23:00-14:00",
])("--from %s is refused with exit 2, and no request is sent", async (from) => {
  expect(await usage(from)).toMatchObject({
    code: 2,
    stderr: `tollgate: --from is "${from}"; it takes a time such as 2027-01-31T00:00:00Z, or a day in UTC\n`,
  });
  expect(asked).toEqual([]);
});
