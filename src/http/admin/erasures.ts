/** Erases personal data over the management API: of an end user of calls, or of a person with an account. docs/data.md. */
import { permit, writeAudit } from "../../admin/index.ts";
import { isErasedToken, newErasedToken } from "../../base/erased.ts";
import { invalidValue } from "../../base/errors.ts";
import { Type } from "../../base/json-schema.ts";
import { isObject } from "../../base/json.ts";
import {
  addErased,
  eraseEndUserPage,
  nothingErased,
  workspaceAfter,
  type Erased,
  type ErasurePlace,
} from "../../retention/index.ts";
import { getWorkspace } from "../../tenancy/index.ts";
import { oneOf, orNull } from "../shapes/schema.ts";
import { withParam } from "./with-param.ts";
import { erasePerson } from "./erase-person.ts";
import { route, type AdminRequest } from "./route.ts";
import { strict } from "./schemas.ts";

/** Milliseconds after which a call answers, with a `continue` for the rest. */
const callMsMax = 8_000;
const endUserMax = 256;
const stages = ["requests", "tasks", "rest"] as const;

interface Body {
  readonly end_user?: string;
  readonly workspace_id?: string;
  readonly person?: string;
  readonly dry_run?: boolean;
  readonly continue?: string;
}

type Request = AdminRequest<Body, unknown>;

/** The progress of an erasure, and the token that replaces the end user. The caller keeps it. */
interface Progress {
  readonly token: string;
  readonly place: ErasurePlace;
}

const progressText = (progress: Progress): string =>
  Buffer.from(JSON.stringify(progress)).toString("base64url");

/** True for the id of a row, or an empty text. */
const isName = (value: unknown): boolean => typeof value === "string" && /^\w*$/.test(value);

/** @throws GatewayError `invalid_value` */
function progressOf(text: string): Progress {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (isObject(value) && isObject(value["place"])) {
      const { token, place } = value as unknown as Progress;
      const { workspaceId, stage, after } = place;
      const isPlace = isName(workspaceId) && isName(after) && stages.includes(stage);
      if (isErasedToken(token) && isPlace) return { token, place: { workspaceId, stage, after } };
    }
  } catch {
    // Refused below.
  }
  throw invalidValue("continue", "must be the `continue` of the previous answer");
}

const firstPlace = (workspaceId: string): ErasurePlace => ({
  workspaceId,
  stage: "requests",
  after: "",
});

interface Run {
  readonly erased: Erased;
  /** The place where the next call continues; undefined when all is done. */
  readonly place: ErasurePlace | undefined;
}

/** Erases page after page, until the end or until the time is over. */
async function run(request: Request, endUser: string, { token, place }: Progress): Promise<Run> {
  const { database } = request.services;
  const one = { endUser, token, dryRun: request.body.dry_run === true };
  const startedMs = performance.now();
  let erased = nothingErased;
  let at: ErasurePlace | undefined = place;
  while (at !== undefined && performance.now() - startedMs < callMsMax) {
    const { workspaceId } = at;
    const page = await eraseEndUserPage(database, at, one);
    erased = addErased(erased, page.erased);
    at = page.next;
    if (at !== undefined || request.body.workspace_id !== undefined) continue;
    const next = await workspaceAfter(database, workspaceId);
    at = next === undefined ? undefined : firstPlace(next);
  }
  return { erased, place: at };
}

/** @throws GatewayError `not_found` for an unknown workspace */
async function start(request: Request): Promise<ErasurePlace | undefined> {
  const { services, body } = request;
  const { workspace_id: id } = body;
  if (id !== undefined)
    return firstPlace((await withParam("workspace_id", () => getWorkspace(services, id))).id);
  const first = await workspaceAfter(services.database, "");
  return first === undefined ? undefined : firstPlace(first);
}

async function eraseEndUser(request: Request, endUser: string) {
  const { services, body, actor, requestId } = request;
  // First write the log rows of calls that were just answered.
  await Promise.all([services.logWritten(), services.bodiesWritten()]);
  const goesOn = body.continue === undefined ? undefined : progressOf(body.continue);
  const token = goesOn?.token ?? newErasedToken();
  const place = goesOn?.place ?? (await start(request));
  const done: Run = place
    ? await run(request, endUser, { token, place })
    : { erased: nothingErased, place: undefined };
  if (body.dry_run !== true)
    await writeAudit(services, {
      actor,
      requestId,
      action: "personal_data.erase",
      object: { type: "end_user", id: token },
      place: body.workspace_id === undefined ? {} : { workspaceId: body.workspace_id },
      before: null,
      after: done.erased,
    });
  return {
    token,
    erased: done.erased,
    continue: done.place === undefined ? null : progressText({ token, place: done.place }),
  };
}

/** Data that no erasure reaches, so that the operator can take care of it. */
const notReached = [
  "backups and exports that were written before",
  "the access log, the logs of the process, counters of metrics until the next restart, and traces",
  "what was sent to providers, receivers of callbacks and hooks",
  "tags with other values, sums by other tags than end_user, notes of credits",
  "names that others gave to keys, workspaces and providers",
  "kept bodies of calls with a person's keys, until their days are over",
];

const answer = {
  name: "Erasure",
  schema: Type.Object({
    object: Type.Literal("erasure"),
    kind: oneOf("end_user", "person"),
    dry_run: Type.Boolean(),
    token: Type.String({
      description: "The random token that replaces the id, the name and the address.",
    }),
    erased: Type.Record(Type.String(), Type.Integer(), {
      description: "The rows of this call, by kind. In a dry run: the rows that exist.",
    }),
    continue: orNull(
      Type.String({
        description: "There is more to erase: send it with the same body. null: done.",
      }),
    ),
    not_reached: Type.Array(Type.String(), { description: "Where the person may still be named." }),
  }),
};

const erase = route({
  method: "POST",
  path: "/erasures",
  operationId: "erasePersonalData",
  summary: "Erase an end user, or a person with an account",
  description:
    "With `end_user`: in the log a random token replaces the id, and stored bodies are deleted. Ended tasks are deleted with their files and callbacks, " +
    "sums by `end_user` are kept under the token, and the response cache of the workspace is emptied. Without `workspace_id` this applies to all workspaces. " +
    "With `person` (user id or e-mail address): name, address, sessions, passwords, personal tokens and invitations are deleted, memberships end, the keys are disabled, " +
    "and audit entries name the token. Ledger and sums do not change. It cannot be undone.",
  action: "personal_data.erase",
  body: strict({
    end_user: Type.Optional(Type.String({ minLength: 1, maxLength: endUserMax })),
    workspace_id: Type.Optional(Type.String({ maxLength: 100 })),
    person: Type.Optional(Type.String({ minLength: 1, maxLength: 254 })),
    dry_run: Type.Optional(Type.Boolean({ description: "True: count only, change nothing." })),
    continue: Type.Optional(Type.String({ maxLength: 2_000 })),
  }),
  example: { end_user: "u-8127", dry_run: true },
  answer,
  errors: ["not_found", "insufficient_permissions", "conflict"],
  async handle(request) {
    permit(request.actor, "personal_data.erase", {}, "personal data");
    const { body } = request;
    const { end_user: endUser, person, dry_run: dryRun = false } = body;
    if ((endUser === undefined) === (person === undefined))
      throw invalidValue("end_user", "or `person` is required, and only one of them");
    if (person !== undefined && (body.workspace_id ?? body.continue) !== undefined)
      throw invalidValue(
        "person",
        "cannot be combined with `workspace_id` or `continue`: all workspaces are erased at once",
      );
    const done =
      endUser === undefined
        ? {
            ...(await erasePerson(request, { named: person!, token: newErasedToken(), dryRun })),
            continue: null,
          }
        : await eraseEndUser(request, endUser);
    const kind = endUser === undefined ? "person" : "end_user";
    return {
      body: { object: "erasure", kind, dry_run: dryRun, ...done, not_reached: notReached },
    };
  },
});

export const erasureRoutes = [erase];
