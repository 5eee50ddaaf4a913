/** The sandbox's HTTP side: finds the vendor of a path, notes the request, and sends what the vendor says. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isLocalHost } from "../src/base/local-host.ts";
import { answerTo } from "./answer.ts";
import type { Journal, JournalEntry, JournalWriter } from "./journal.ts";
import type { Body } from "./body.ts";
import { readBody } from "./body.ts";
import { asText } from "./json.ts";
import { UnreadablePicture } from "./pictures.ts";
import type { Delivery } from "./reply.ts";
import { scriptedFailure, sendStream, sendWhole, untilGone, wasCut } from "./reply.ts";
import type { Artifacts } from "./artifacts.ts";
import type { ScriptReader } from "./script.ts";
import type { Script } from "./script-fields.ts";
import { artifactFields, scriptFields } from "./script-fields.ts";
import type { Failure } from "./refusal.ts";
import type { Call, MediaRoute, Rendering, Route, TextRoute, Vendor } from "./vendor.ts";
import { Refusal } from "./refusal.ts";

/** Pino's shape, as far as the sandbox writes. */
export interface SandboxLog {
  error(fields: object, message: string): void;
}

export interface Parts {
  readonly vendors: readonly Vendor[];
  readonly journal: JournalWriter;
  readonly scripts: ScriptReader;
  readonly artifacts: Artifacts;
  readonly log: SandboxLog | undefined;
}

/** One request on its way through. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly vendor: Vendor;
  readonly left: AbortSignal;
}

/** The handler of all requests. Whatever is thrown becomes an answer, so that no request is left open by mistake. */
export function createHandler(parts: Parts) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const started = performance.now();
    const url = URL.parse(request.url ?? "/", "http://sandbox");
    const body = await readBody(request);
    // The client left, or the disk took no uploads: no answer follows.
    if (body === undefined) return void response.destroy();
    if (!url) return sendJson(response, 400, { error: { message: "Not a path." } });
    const vendor = parts.vendors.find(({ name }) => url.pathname.startsWith(`/${name}/`));
    if (!vendor) return answerOwnPath(parts.journal, { request, response, url });
    const entry = parts.journal.add({
      vendor: vendor.name,
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      text: body.text,
      body: body.shown,
    });
    const left = watch(response, entry, started);
    const exchange: Exchange = { request, response, url, vendor, left };
    try {
      await answerVendorPath(parts, exchange, body);
    } catch (error) {
      answerError(parts, exchange, error);
    } finally {
      await body.dispose();
    }
  };
}

/** Completes the journal entry when the answer is out or the client has left; the signal fires in the second case. */
function watch(response: ServerResponse, entry: JournalEntry, started: number): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    entry.status = response.headersSent ? response.statusCode : null;
    entry.aborted = !response.writableFinished && !wasCut(response);
    entry.duration_ms = Math.round(performance.now() - started);
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

async function answerVendorPath(parts: Parts, exchange: Exchange, body: Body): Promise<void> {
  const { request, response, url, vendor } = exchange;
  const path = url.pathname.slice(vendor.name.length + 1);
  if (path.startsWith("/files/")) return parts.artifacts.serve(exchange);
  for (const [name, value] of Object.entries(vendor.headers())) response.setHeader(name, value);
  const method = request.method ?? "";
  const { headers } = request;
  const target = request.url ?? "";
  const asking = { method, path, target, query: url.searchParams, headers, text: body.text };
  const given = vendor.open?.(asking);
  if (given) return sendJson(response, given.status, given.body ?? {});
  const route = vendor.route(method, path, url.searchParams);
  if (!route) throw new Refusal(404, { message: `No such path: ${request.method} ${path}` });
  vendor.authorise(headers, url.searchParams, asking);
  if (request.method === "POST") refuseWrongBody(route, body);
  const call = callOf(exchange, route, body);
  if (route.kind === "json") return sendJson(response, 200, route.answer(call));
  const strict = route.kind === "text" ? route.endpoint.strict : route.strict;
  for (const check of strict) check(call);
  if (route.kind === "media") return answerMedia(parts, exchange, { route, call });
  await answerQuestion(parts, exchange, { route, call });
}

/** A JSON object or a form, whichever the route takes. */
function refuseWrongBody(route: Route, { fields, isForm }: Body): void {
  const takes = (route.kind === "media" && route.takes) || "json";
  if (takes === "nothing") return;
  if (isForm !== (takes === "form")) {
    const wanted = isForm ? "application/json" : "multipart/form-data";
    throw new Refusal(400, { message: `Invalid Content-Type: expected ${wanted}.` });
  }
  if (fields !== undefined) return;
  const what = isForm ? "a whole form" : "a JSON object";
  throw new Refusal(400, { message: `The body is not ${what}.` });
}

function callOf({ request, url }: Exchange, route: Route, { fields, files }: Body): Call {
  const text = route.kind === "text" ? route : undefined;
  const body = fields ?? {};
  return {
    headers: request.headers,
    query: url.searchParams,
    model: text?.model ?? asText(body["model"]),
    stream: text?.stream ?? (body["stream"] === true || body["stream"] === "true"),
    body,
    files,
  };
}

interface Asked {
  readonly route: TextRoute;
  readonly call: Call;
}

async function answerQuestion(parts: Parts, exchange: Exchange, asked: Asked): Promise<void> {
  const { response, left } = exchange;
  const { endpoint, array = false, packets } = asked.route;
  const question = endpoint.question(asked.call);
  const script = parts.scripts.read(question.turns, [endpoint.name, asked.call.model]);
  if (await isTroubled(exchange, script)) return;

  const rendering = endpoint.render(asked.call, answerTo(question, script, asked.call.model));
  await deliver({ response, script, left, array, packets }, asked.call, rendering);
}

async function deliver(delivery: Delivery, call: Call, rendering: Rendering): Promise<void> {
  const { script } = delivery;
  const streams = (call.stream && !script.whole) || script.streamed === true;
  if (streams) await sendStream(delivery, rendering);
  else sendWhole(delivery, JSON.stringify(rendering.whole()));
}

interface AskedForMedia {
  readonly route: MediaRoute;
  readonly call: Call;
}

async function answerMedia(parts: Parts, exchange: Exchange, asked: AskedForMedia): Promise<void> {
  const { response, left } = exchange;
  const { route, call } = asked;
  const read = (text: string) =>
    parts.scripts.read(
      [{ role: "user", text, images: 0, calls: 0, results: [] }],
      [route.name, call.model],
    );
  const script = route.script(call, read);
  if (await isTroubled(exchange, script)) return;
  const answer = await route.answer(call, script);
  const delivery: Delivery = { response, script, left, array: false, packets: undefined };
  if ("whole" in answer) return deliver(delivery, call, answer);
  response.statusCode = answer.status;
  if (answer.body === undefined) response.end();
  else sendWhole(delivery, JSON.stringify(answer.body));
}

/** Lets happen what the script wants to happen before the answer; true when there will be none. */
async function isTroubled(exchange: Exchange, script: Script): Promise<boolean> {
  const { response, left } = exchange;
  for (const [name, value] of Object.entries(script.headers ?? {})) response.setHeader(name, value);
  if (script.delay_ms !== undefined) await sleep(script.delay_ms, undefined, { signal: left });
  if (!script.hang) return failedAsScripted(exchange, script);
  await untilGone(left);
  return true;
}

const page = "<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>";

/** The answers that are none: an error status, or a body no client of the vendor can read. */
function failedAsScripted({ response, vendor }: Exchange, script: Script): boolean {
  if (script.malformed === "html" || script.malformed === "empty") {
    response.statusCode = script.status ?? 200;
    response.setHeader("content-type", "text/html");
    response.end(script.malformed === "html" ? page : "");
    return true;
  }
  if (script.status === undefined) return false;
  const failure = scriptedFailure(script, "The sandbox was told to fail.");
  sendFailure(response, vendor, { status: script.status, failure });
  return true;
}

interface Refused {
  readonly status: number;
  readonly failure: Failure;
}

function sendFailure(response: ServerResponse, vendor: Vendor, { status, failure }: Refused): void {
  if (failure.retryAfterSeconds !== undefined) {
    response.setHeader("retry-after", failure.retryAfterSeconds);
  }
  sendJson(response, status, vendor.errorBody(status, failure));
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}

function answerError({ log }: Parts, { response, vendor, left }: Exchange, error: unknown): void {
  if (left.aborted) return;
  if (error instanceof Refusal) return sendFailure(response, vendor, error);
  if (error instanceof UnreadablePicture) {
    return sendFailure(response, vendor, { status: 400, failure: { message: error.message } });
  }
  log?.error({ err: error }, "the sandbox failed");
  if (response.headersSent) response.destroy();
  else sendFailure(response, vendor, { status: 500, failure: { message: "The sandbox failed." } });
}

interface OwnPath {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
}

/** The sandbox's own paths: the journal, and at `/` what a script may hold. Not for pages of the web (DNS rebinding). */
function answerOwnPath(journal: Journal, { request, response, url }: OwnPath): void {
  if (!isLocalHost(request.headers.host)) {
    const message = "The Host header is a name that a page of the web could have led here.";
    return sendJson(response, 403, { error: { message } });
  }
  const at = `${request.method} ${url.pathname}`;
  if (at === "GET /__journal") {
    const filter = (name: string) => url.searchParams.get(name) ?? undefined;
    const entries = journal.list({ model: filter("model"), contains: filter("contains") });
    return sendJson(response, 200, { data: entries });
  }
  if (at === "DELETE /__journal") {
    journal.clear();
    return sendJson(response, 200, { cleared: true });
  }
  if (at === "GET /")
    return sendJson(response, 200, { script: scriptFields, artifact: artifactFields });
  sendJson(response, 404, { error: { message: `The sandbox has no ${at}` } });
}
