// Pictures that a vendor gives by address, while the address fails for a while: the memory that the call holds, and the end of the
// call when its gateway stops.
import { afterEach, expect, it } from "vitest";
import { createSseParser } from "../../src/base/sse.ts";
import { mayFetchAgain } from "../../src/calls/image-pictures.ts";
import { download, DownloadError } from "../../src/upstream/index.ts";
import { eventually } from "../support/patience.ts";
import { json, sse } from "../support/recorder.ts";
import { padded, picture, type ImageAnswer } from "./support.ts";
import { generating, startVendors } from "./two-vendors.ts";

let vendors: Awaited<ReturnType<typeof startVendors>>;
afterEach(() => vendors.close());

const names = () => json({ data: [{ url: `${vendors.first.url}/made.png` }] });

it("STORE-01: a picture that is cut again and again counts only its kept bytes, and other calls are answered", async () => {
  vendors = await startVendors({ more: "limits: { bodies_under_way_mb: 12 }" });
  const file = padded(await picture(), 3_000_000);
  let fetched = 0;
  let isWhole = false;
  vendors.answer((request, response) => {
    if (request.method === "POST") return names()(request, response);
    fetched += 1;
    response.writeHead(200, { "content-length": file.length });
    if (isWhole) return void response.end(file);
    response.write(file.subarray(0, 2_900_000), () => response.destroy());
  });
  const call = vendors.bench.generate({ model: generating });
  await eventually(() => fetched > 4, "many tries");
  // This call needs the memory of a picture too.
  const other = await vendors.bench.edit(
    { model: "acme/edit:second", prompt: "x" },
    { image: await picture() },
  );
  expect(other.status).toBe(200);
  isWhole = true;
  expect((await call).status).toBe(200);
});

it.each([
  ["with a silent server", 1],
  ["waiting for its next try", 6],
])(
  "STORE-01: a call for a picture %s when its gateway stops ends with an error message, uncharged",
  async (_what, from) => {
    vendors = await startVendors({ stopMs: 2_500 });
    let fetched = 0;
    vendors.answer((request, response) => {
      if (request.method === "POST") return names()(request, response);
      fetched += 1;
      if (fetched < from || from > 1) response.writeHead(503).end();
    });
    const call = vendors.bench.generate({ model: generating });
    await eventually(() => fetched >= from, "a try");
    const closed = vendors.bench.close();
    const answer = await call;
    const text = await answer.text();
    await closed;
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(text).toContain('"code":"shutting_down"');
    expect(text).toContain("Nothing was charged.");
  },
);

it("STORE-01: a picture is fetched again if a page comes in its place with 200", async () => {
  vendors = await startVendors();
  const file = await picture();
  const page = "<html>502 Bad Gateway</html>";
  let fetched = 0;
  vendors.answer((request, response) => {
    if (request.method === "POST") return names()(request, response);
    fetched += 1;
    const body = fetched < 3 ? page : file;
    response.writeHead(200, { "content-length": body.length }).end(body);
  });
  expect((await vendors.bench.generate({ model: generating })).status).toBe(200);
  expect(fetched).toBe(3);
});

it("STORE-01: a picture at a path is fetched from its vendor's host, as SGLang gives it", async () => {
  vendors = await startVendors();
  const file = await picture();
  const paths: string[] = [];
  vendors.answer((request, response) => {
    if (request.method === "POST")
      return json({ data: [{ url: "/v1/images/7f/content" }] })(request, response);
    paths.push(request.path);
    response.writeHead(200, { "content-length": file.length }).end(file);
  });
  const answer = await vendors.bench.generate({ model: generating });
  const { data } = (await answer.json()) as ImageAnswer;
  expect(data).toEqual([{ b64_json: file.toString("base64") }]);
  expect(paths).toEqual(["/v1/images/7f/content"]);
});

it("IMG-28: a picture that a stream gives by address is fetched, and charged by the stream's usage", async () => {
  vendors = await startVendors();
  const file = await picture();
  vendors.answer((request, response) => {
    if (request.method === "GET")
      return void response.writeHead(200, { "content-length": file.length }).end(file);
    const url = `${vendors.first.url}/made.png`;
    const usage = { input_tokens: 10, output_tokens: 500, total_tokens: 510 };
    const data = { type: "image_generation.completed", url, usage };
    return sse(`data: ${JSON.stringify(data)}\n\n`)(request, response);
  });
  const answer = await vendors.bench.generate({ model: generating, stream: true });
  const [event] = createSseParser().push(Buffer.from(await answer.text()));
  expect(event!.event).toBe("image_generation.completed");
  expect(JSON.parse(event!.data)).toMatchObject({
    b64_json: file.toString("base64"),
    size: "64x48",
    usage: { input_tokens: 10, output_tokens: 500 },
  });
  expect((await vendors.bench.state()).chargedNano).toBe(510_000n);
});

it("STORE-01: a picture that its server does not have is waited for 30 seconds, and a server in trouble for longer", async () => {
  vendors = await startVendors();
  let status = 404;
  vendors.answer((_request, response) => void response.writeHead(status).end());
  const failed = async (): Promise<unknown> => {
    const url = `${vendors.first.url}/made.png`;
    const limits = {
      bytesMax: 100,
      idleMs: 5_000,
      totalMs: 5_000,
      allowPrivate: true,
      providerUrl: undefined,
    };
    return download({ url, kind: "image", ...limits }, () => Promise.resolve()).catch(
      (error: unknown) => error,
    );
  };
  const again: unknown[] = [];
  for (status of [403, 404, 410, 503]) {
    const error = await failed();
    expect(error).toBeInstanceOf(DownloadError);
    again.push([status, mayFetchAgain(error, 29_000), mayFetchAgain(error, 31_000)]);
  }
  expect(again).toEqual([
    [403, true, false],
    [404, true, false],
    [410, false, false],
    [503, true, true],
  ]);
});

it("BILL-09: pictures that together do not fit into one answer are refused before they are charged", async () => {
  vendors = await startVendors();
  const data = Array.from({ length: 10 }, () => ({ url: `${vendors.first.url}/made.png` }));
  vendors.answer((request, response) => {
    if (request.method === "POST") return json({ data })(request, response);
    response.writeHead(200, { "content-length": 40 * 1024 * 1024 }).flushHeaders();
  });
  const answer = await vendors.bench.generate({ model: generating, n: 10 });
  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain("the file is larger than 37748736 bytes");
});
