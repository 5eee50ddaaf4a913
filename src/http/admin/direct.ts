/**
 * The management API without HTTP: a process with the operator's rights calls the same routes. The command line uses it where no
 * gateway runs; docs/cli.md.
 */
import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { adminTokenActor } from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { fitsRoute } from "../path.ts";
import type { AdminServices } from "../services.ts";
import { checker } from "./check.ts";
import { csvAnswer } from "./csv.ts";
import type { AdminAnswer, AdminRequest, AdminRoute } from "./route.ts";

export interface DirectCall {
  readonly method: AdminRoute["method"];
  /** The path below `/admin/v1`, such as `/keys/key_1`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object | undefined;
  readonly idempotencyKey?: string | undefined;
}

interface DirectOptions {
  readonly routes: readonly AdminRoute[];
  readonly services: AdminServices;
  readonly log: Pick<Log, "warn">;
}

const pattern = (route: AdminRoute): string => route.path.replaceAll(/\{(\w+)\}/g, ":$1");

/** Returns the named segments of a path that matches the route. */
function paramsOf(route: AdminRoute, path: string): Record<string, string> {
  const taken = path.split("/");
  const named = pattern(route)
    .split("/")
    .flatMap((step, at) =>
      step.startsWith(":") ? [[step.slice(1), decodeURIComponent(taken[at]!)]] : [],
    );
  return Object.fromEntries(named) as Record<string, string>;
}

type RoutedRequest = readonly [route: AdminRoute, request: AdminRequest<unknown, unknown>];

/** Returns the route of a call and its request, with every right. @throws GatewayError for a call that the route does not accept */
function requestOf({ routes, services, log }: DirectOptions, call: DirectCall): RoutedRequest {
  const { method, path, query = {} } = call;
  const route = routes.find((one) => one.method === method && fitsRoute(pattern(one), path));
  if (route === undefined) throw new GatewayError("not_found", `There is no ${method} ${path}.`);
  if (route.query) checker(route.query)(query);
  const body = route.body === undefined ? undefined : (call.body ?? {});
  if (route.body) checker(route.body)(body);
  const request = {
    services,
    log,
    actor: adminTokenActor,
    params: paramsOf(route, path),
    query,
    body,
    requestId: `cli_${randomUUID()}`,
    ifMatch: undefined,
    idempotencyKey: call.idempotencyKey,
  };
  return [route, request];
}

/** Calls a route with every right. @throws GatewayError as the route answers */
export async function callDirectly(options: DirectOptions, call: DirectCall): Promise<AdminAnswer> {
  const [route, request] = requestOf(options, call);
  return route.handle(request);
}

/** The same as CSV, for a list that has it. @throws GatewayError as the route answers, `not_found` for any other */
export async function csvDirectly(options: DirectOptions, call: DirectCall): Promise<Readable> {
  const [route, request] = requestOf(options, call);
  if (route.csv === undefined)
    throw new GatewayError("not_found", `There is no CSV of ${call.path}.`);
  return csvAnswer(route, route.csv, request);
}
