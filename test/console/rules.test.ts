/** Small rules of the console's pages, with tables: parsing of addresses, prices, attempts and refusals. */
import { expect, it } from "vitest";
import { ApiError, keepsShownData } from "../../console/src/api/errors.ts";
import { reachableUrl } from "../../console/src/base/reachable-url.ts";
import { attemptStartMs, isAnswered } from "../../console/src/pages/requests/one/sentence.ts";
import { readIn, readMoment } from "../../console/src/base/time.ts";
import { filtersOf } from "../../console/src/pages/requests/filters.ts";
import { priceLines } from "../../console/src/base/rates.ts";

it("a task's attempt is placed by its start time, and a succeeded one counts as answered", () => {
  const callAt = "2026-11-26T14:00:00.000Z";
  const asked = { provider: "acme", outcome: "succeeded", started_at: "2026-11-26T14:00:01.500Z" };
  const call = { provider: "acme", outcome: "ok", status: 200, started_ms: 20, duration_ms: 1 };
  expect([asked, call].map((one) => [attemptStartMs(one, callAt), isAnswered(one)])).toEqual([
    [1500, true],
    [20, true],
  ]);
  expect(isAnswered({ ...call, outcome: "429" })).toBe(false);
});

it("each rate of a price names its unit", () => {
  const price = {
    input: "1",
    cache_write_1h: "2",
    request: "0.1",
    web_search: "0.01",
    web_search_answer: "0.035",
    file_search: "0.0025",
    map_search: "0.014",
    map_answer: "0.025",
    code_run: "0.005",
    x_post: "0.005",
    x_profile: "0.01",
    output_image: { low: "0.02" },
    output_second: "0.05",
    output_video_token: { "720p": { sound: "3", silent: "1.5" } },
  };
  expect(priceLines(price).map(({ name, amount, per }) => `${name} ${amount} ${per}`)).toEqual([
    "input 1 a million tokens",
    "cache write 1h 2 a million tokens",
    "request 0.1 a call",
    "web search 0.01 a search",
    "web search answer 0.035 an answer with a search",
    "file search 0.0025 a search",
    "map search 0.014 a search",
    "map answer 0.025 an answer with a search",
    "code run 0.005 a run",
    "x post 0.005 a post",
    "x profile 0.01 a profile",
    "output image, low 0.02 an image",
    "output second 0.05 a second",
    "output video token, 720p, sound 3 a million tokens",
    "output video token, 720p, silent 1.5 a million tokens",
  ]);
});

it("the shown base URL is the address of the page if the gateway listens on all addresses", () => {
  const lan = "http://192.168.1.7:8080";
  for (const [own, reached] of [
    ["http://0.0.0.0:8080", lan],
    ["http://[::]:8080/join#gw_inv_a", `${lan}/join#gw_inv_a`],
    ["https://gateway.example.com/join#a", "https://gateway.example.com/join#a"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
  ] as const)
    expect(reachableUrl(own, lan)).toBe(reached);
});

it("shown data stay while a gateway is unavailable, and are removed after a refusal", () => {
  const stays = [null, new TypeError("fetch"), new ApiError(503, "")];
  expect(stays.map(keepsShownData)).toEqual([true, true, true]);
  expect([401, 403, 404].map((status) => keepsShownData(new ApiError(status, "")))).toEqual([
    false,
    false,
    false,
  ]);
});

it("a time on another day shows the day", () => {
  readIn("utc");
  const now = new Date("2026-12-31T14:00:00Z");
  const read = ["2026-12-31T23:59:59Z", "2027-01-06T14:03:00Z"].map((time) =>
    readMoment(new Date(time), now),
  );
  readIn("local");
  expect(read).toEqual(["23:59", "6 Jan 14:03"]);
});

it("a filter is accepted up to the longest possible value, and dropped beyond it", () => {
  const long = `team:${"\u{1F525}".repeat(512)}`;
  expect(filtersOf({ tag: long, user: "line\nbreak" })).toMatchObject({
    tag: long,
    user: "line\nbreak",
  });
  expect(filtersOf({ tag: `${long}!`, user: "u".repeat(257) })).toMatchObject({
    tag: undefined,
    user: undefined,
  });
});
