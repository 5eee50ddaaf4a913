// Whole answers of image calls in the budget of bytes in flight: refused before a vendor is asked, never after.
import { afterEach, describe, expect, it } from "vitest";
import { prompted, startImages, type ImageBench } from "./support.ts";

let bench: ImageBench;
afterEach(() => bench.close());

async function startWith(megabytes: number): Promise<void> {
  bench = await startImages({
    config: `limits: { body_mb: 1, text_body_mb: 1, bodies_under_way_mb: ${megabytes} }\n`,
    sandbox: "on",
  });
  await bench.credit("100");
}

const codeOf = async (response: Response): Promise<string> => {
  const { error } = (await response.json()) as { error?: { code: string } };
  return `${response.status} ${error?.code ?? "ok"}`;
};

describe("the budget of bytes in flight", () => {
  it("refuses a picture that does not fit with 503, without a vendor request, a hold or a charge", async () => {
    await startWith(2);
    const prompt = prompted();
    const refused = await bench.generate({ prompt });
    expect(refused.headers.get("retry-after")).toMatch(/^[1-9]/);
    expect(await codeOf(refused)).toBe("503 overloaded");
    expect(await bench.sentWith(prompt)).toEqual([]);
    expect(await bench.state()).toMatchObject({ holds: 0, chargedNano: 0n });
    // The events of a stream count when they arrive, so a stream reserves nothing in advance.
    const streamed = await bench.generate({ stream: true, partial_images: 1 });
    expect(streamed.status).toBe(200);
    expect(await streamed.text()).toContain("event: image_generation.completed");
  });

  it("is used by a call until its answer has been sent", async () => {
    await startWith(4);
    const first = bench.generate({ prompt: prompted({ delay_ms: 1_500 }) });
    await expect.poll(() => bench.holds()).toBe(1);
    expect(await codeOf(await bench.generate())).toBe("503 overloaded");
    expect(await codeOf(await first)).toBe("200 ok");
    await expect.poll(async () => codeOf(await bench.generate())).toBe("200 ok");
  });
});
