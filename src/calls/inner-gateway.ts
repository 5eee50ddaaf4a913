/** The reports of another Tollgate that answered as an upstream: what it dropped from the request is lost to the caller too. TXT-14, TXT-15. */
import type { Note } from "../base/notes.ts";
import { isObject } from "../base/json.ts";
import type { JsonObject } from "../protocols/index.ts";
import type { Exchange } from "../upstream/index.ts";
import type { CallContext } from "./context.ts";
import { droppedHeader } from "./reply.ts";

/** More than a real request has; any vendor may send such names. */
const namesMax = 200;
const nameMax = 300;

/** Adds what the head of an answer names: streams have it there. */
export function noteHead(context: CallContext, { headers }: Exchange): void {
  const names = headers["x-gw-dropped-params"];
  if (typeof names === "string") note(context, names.split(", "));
}

/** Adds what a whole answer names. */
export function noteWhole(context: CallContext, { gw }: JsonObject): void {
  const names = isObject(gw) ? gw["droppedParams"] : undefined;
  if (Array.isArray(names)) note(context, names);
}

const detail = "the gateway that is the upstream dropped or changed it";

function note({ record, call, reply }: CallContext, names: readonly unknown[]): void {
  const told = names.filter(isName).slice(0, namesMax);
  if (told.length === 0) return;
  record.notes = [
    ...record.notes,
    ...told.map((param): Note => ({ param, kind: "dropped", detail })),
  ];
  if (call.stream) reply.open(droppedHeader(record.notes));
}

const isName = (name: unknown): name is string =>
  typeof name === "string" && name !== "" && name.length <= nameMax;
