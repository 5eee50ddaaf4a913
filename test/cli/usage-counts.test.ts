/** `tollgate usage`: columns that only some models have appear only if they have values. */
import { expect, it } from "vitest";
import { tollgateHere } from "../support/command.ts";
import { json, startRecorder } from "../support/recorder.ts";

const row = {
  model: "acme/talk",
  requests: 2,
  input_tokens: 900,
  cache_read_tokens: 0,
  output_tokens: 30,
  output_images: 0,
  output_video_seconds: 0,
  cost: "0.5",
};

/** The table as lists of cells. */
async function tableOf(data: readonly object[]): Promise<string[][]> {
  const gateway = await startRecorder(json({ data }));
  const { code, stdout, stderr } = await tollgateHere(
    ["usage", "--by", "model", "--url", gateway.url],
    { TOLLGATE_ADMIN_TOKEN: "token" },
  );
  await gateway.close();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));
}

const before = ["MODEL", "REQUESTS", "INPUT", "CACHED", "OUTPUT", "IMAGES", "VIDEO SECONDS"];

it("the table has the columns of cache writes and searches if any row has a value", async () => {
  const counts = {
    cache_write_tokens: 70,
    cache_write_1h_tokens: 20,
    web_searches: 3,
    map_searches: 2,
    map_answers: 1,
  };
  expect(
    await tableOf([
      { ...row, ...counts },
      { ...row, model: "acme/plain" },
    ]),
  ).toEqual([
    [
      ...before,
      "CACHE WRITES",
      "FOR AN HOUR",
      "SEARCHES",
      "MAP SEARCHES",
      "ANSWERS WITH MAPS",
      "COST",
    ],
    ["acme/talk", "2", "900", "0", "30", "0", "0", "70", "20", "3", "2", "1", "0.5"],
    ["acme/plain", "2", "900", "0", "30", "0", "0", "-", "-", "-", "-", "-", "0.5"],
  ]);
});

it("the table leaves out columns without values, also with an older gateway", async () => {
  for (const more of [{}, { cache_write_tokens: 0, web_searches: 0 }])
    expect(await tableOf([{ ...row, ...more }])).toEqual([
      [...before, "COST"],
      ["acme/talk", "2", "900", "0", "30", "0", "0", "0.5"],
    ]);
});
