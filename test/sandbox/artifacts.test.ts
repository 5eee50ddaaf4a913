/** Downloading vendors' results: signed addresses, and scripted failures on the way. */
import { describe, expect, it } from "vitest";
import { ask, submit, videoVendors } from "./media.ts";
import { leavingAfter, scripted, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const vendor = videoVendors[0]!;

async function videoUrl(artifact: object): Promise<string> {
  const prompt = scripted({ artifact, task_seconds: 0 });
  const last = await ask(
    sandbox.url + vendor.pollPath(vendor.id(await submit({ url: sandbox.url, vendor, prompt }))),
  );
  return vendor.videoUrl(last);
}
const download = async (artifact: object, init?: RequestInit) =>
  fetch(await videoUrl(artifact), init);

/** The number of bytes until the end, the break, or `most`. `heard` is called for each piece. */
async function read(
  response: Response,
  { most = Infinity, heard = () => undefined }: { most?: number; heard?: () => void } = {},
): Promise<{ bytes: number; end: string }> {
  let bytes = 0;
  try {
    for await (const piece of response.body!) {
      bytes += piece.length;
      heard();
      if (bytes > most) return { bytes, end: "enough" };
    }
  } catch {
    return { bytes, end: "broken" };
  }
  return { bytes, end: "whole" };
}

describe("artifacts", () => {
  it("a file has a type and a length, is the same each time, and HEAD answers its length", async () => {
    const url = await videoUrl({});
    const [first, second] = [await fetch(url), await fetch(url)];
    const bytes = Buffer.from(await first.arrayBuffer());
    expect(first.headers.get("content-type")).toBe("video/mp4");
    expect(Number(first.headers.get("content-length"))).toBe(bytes.length);
    expect(bytes.equals(Buffer.from(await second.arrayBuffer()))).toBe(true);
    const head = await fetch(url, { method: "HEAD" });
    expect(Number(head.headers.get("content-length"))).toBe(bytes.length);
  });

  it("a URL works only with its signature, and only without a key", async () => {
    const url = await videoUrl({});
    const unsigned = await fetch(url.replace(/Signature=.*/, "Signature=other"));
    expect(unsigned.status).toBe(403);
    expect((await fetch(url.replace(/\?.*/, ""))).status).toBe(403);
    const keyed = await fetch(url, { headers: { authorization: "Bearer sandbox" } });
    expect(keyed.status).toBe(400);
    expect(await keyed.text()).toContain("<Code>InvalidArgument</Code>");
  });

  it("status, times: the first downloads fail, the next one succeeds", async () => {
    const url = await videoUrl({ status: 500, times: 1 });
    expect((await fetch(url)).status).toBe(500);
    expect((await fetch(url)).status).toBe(200);
  });

  it("cut_after_bytes: the download breaks after that many bytes of the announced length", async () => {
    const response = await download({ cut_after_bytes: 100 });
    expect(Number(response.headers.get("content-length"))).toBeGreaterThan(100);
    expect(await read(response)).toEqual({ bytes: 100, end: "broken" });
    await expect(download({ cut_after_bytes: 0 }).then((answer) => read(answer))).resolves.toEqual({
      bytes: 0,
      end: "broken",
    });
  });

  it("padded_bytes: the file has that length, and is sent no faster than it is read", async () => {
    const response = await download({ padded_bytes: 3_000_000_000 });
    expect(response.headers.get("content-length")).toBe("3000000000");
    const before = process.memoryUsage().rss;
    expect(await read(response, { most: 50_000_000 })).toMatchObject({ end: "enough" });
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
    expect(await read(await download({ padded_bytes: 100_000 }))).toEqual({
      bytes: 100_000,
      end: "whole",
    });
  });

  it("flood: the file has no length and no end", async () => {
    const response = await download({ flood: true });
    expect(response.headers.get("content-length")).toBeNull();
    expect(await read(response, { most: 10_000_000 })).toMatchObject({ end: "enough" });
  });

  it("hang, hang_after_bytes: the download stops without an end", async () => {
    const signal = AbortSignal.timeout(150);
    await expect(download({ hang: true }, { signal })).rejects.toThrow("timeout");
    const client = leavingAfter(150);
    const stuck = await download({ hang_after_bytes: 10 }, { signal: client.signal });
    expect(await read(stuck, { heard: client.heard })).toEqual({ bytes: 10, end: "broken" });
  });

  it("content_type, redirect, url: the file has that type, redirects there, or has that URL", async () => {
    const typed = await download({ content_type: "text/html" });
    expect(typed.headers.get("content-type")).toBe("text/html");
    const moved = await download({ redirect: "http://192.0.2.1/x" }, { redirect: "manual" });
    expect([moved.status, moved.headers.get("location")]).toEqual([302, "http://192.0.2.1/x"]);
    expect(await videoUrl({ url: "http://169.254.169.254/x" })).toBe("http://169.254.169.254/x");
  });
});
