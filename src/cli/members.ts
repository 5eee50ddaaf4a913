/** `tollgate members`: list, add, set, remove. docs/cli.md. */
import type { Command } from "commander";
import { defined } from "../base/defined.ts";
import { listAll, apiCommand, type ApiOptions } from "./api.ts";
import { UsageError } from "./usage-error.ts";
import {
  addCapOptions,
  capsOf,
  inWorkspace,
  wordOf,
  workspaceOf,
  changesOf,
  type CapOptions,
} from "./fields.ts";
import { printTable } from "./print.ts";
import { RefusedError, isMissing, type Api, type Json } from "./remote-api.ts";
import { capsText } from "./workspaces.ts";

interface MemberOptions extends ApiOptions, CapOptions {
  readonly workspace?: string;
  readonly role?: string;
  readonly name?: string;
}

const roles = ["admin", "member"] as const;
const roleOf = (text: string | undefined) => text && wordOf(text, "--role", roles);

export function addMemberCommands(members: Command): void {
  apiCommand(inWorkspace(members.command("list").description("list the members of a workspace")), {
    ask: (options: MemberOptions) => async (api) =>
      listAll(api, `/workspaces/${await workspaceOf(api, options.workspace)}/members`),
    show: (records) =>
      printTable(
        ["user", "email", "role", "status", "spent", "caps"],
        records.map((record: Json) => [
          record.user_id,
          record.email,
          record.role,
          record.status,
          record.spend.total,
          capsText(record.spend_caps),
        ]),
      ),
  });
  addAdd(members.command("add <email>"));
  addSet(members.command("set <member>"));
  addRemove(members.command("remove <member>"));
}

function addAdd(add: Command): void {
  inWorkspace(add.description("invite a member; prints the invitation link"))
    .option("--role <role>", "admin or member", "member")
    .option("--name <name>", "the member's name");
  apiCommand(addCapOptions(add, "create"), {
    ask(email: string, options: MemberOptions) {
      const { name } = options;
      const role = roleOf(options.role);
      const body = defined({ email, name, role, spend_caps: capsOf(options) });
      return async (api) => {
        const path = `/workspaces/${await workspaceOf(api, options.workspace)}/members`;
        return api.call({ method: "POST", path, body });
      };
    },
    show(record) {
      const { url, expires_at } = record.invitation;
      console.log(`${record.email} (${record.user_id}) is invited as ${record.role}`);
      console.log(`give them this link, shown once; it works once, until ${expires_at}:`);
      console.log(`  ${url}`);
      console.log(
        `or this one-time password, to be changed at sign-in: ${record.one_time_password}`,
      );
    },
  });
}

interface NamedMember {
  readonly user_id: string;
  readonly email: string;
}

const noMember = (named: string): RefusedError =>
  new RefusedError(404, `there is no member "${named}" in that workspace`);

/** Also finds the id under which the member was invited, as the API does. @throws RefusedError */
async function memberById(api: Api, workspaceId: string, id: string): Promise<NamedMember> {
  try {
    const path = `/workspaces/${workspaceId}/members/${id}`;
    return (await api.call({ method: "GET", path })) as NamedMember;
  } catch (error) {
    throw isMissing(error) ? noMember(id) : error;
  }
}

/** Finds a member by e-mail address or id. @throws RefusedError where there is none, UsageError where there are several */
export async function memberOf(api: Api, workspaceId: string, named: string): Promise<NamedMember> {
  if (/^[\w-]+$/.test(named)) return memberById(api, workspaceId, named);
  const records = (await listAll(api, `/workspaces/${workspaceId}/members`)) as NamedMember[];
  const email = named.toLowerCase();
  const found = records.filter((one) => one.email === email);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw noMember(named);
  const ids = found.map((one) => one.user_id).join(", ");
  throw new UsageError(`several members have the address "${named}"; name one by id: ${ids}`);
}

/** Returns the API path of a member. @throws as {@link memberOf} */
async function memberPath(api: Api, named: string, options: MemberOptions): Promise<string> {
  const workspaceId = await workspaceOf(api, options.workspace);
  const { user_id } = await memberOf(api, workspaceId, named);
  return `/workspaces/${workspaceId}/members/${user_id}`;
}

function addSet(set: Command): void {
  inWorkspace(
    set.description(
      "change the role or caps of a member, by e-mail address or id; other settings stay",
    ),
  ).option("--role <role>", "admin or member");
  apiCommand(addCapOptions(set, "change"), {
    ask(named: string, options: MemberOptions) {
      const fields = defined({ role: roleOf(options.role), spend_caps: capsOf(options) });
      const body = changesOf(fields, "--role admin");
      return async (api) =>
        api.call({ method: "PATCH", path: await memberPath(api, named, options), body });
    },
    show(record) {
      const caps = capsText(record.spend_caps);
      console.log(
        `${record.email} (${record.user_id}) is ${record.role}${caps && `; caps: ${caps}`}`,
      );
    },
  });
}

const addRemove = (remove: Command): Command =>
  apiCommand(
    inWorkspace(
      remove.description(
        "remove a member from a workspace, or withdraw an invitation; disables the keys that the member made in it",
      ),
    ),
    {
      ask: (named: string, options: MemberOptions) => async (api) =>
        api.call({ method: "DELETE", path: await memberPath(api, named, options) }),
      show(record) {
        const keys = record.disabled_keys as string[];
        const disabled = keys.length === 0 ? "" : `; disabled: ${keys.join(", ")}`;
        console.log(`${record.user_id} is a member no more${disabled}`);
      },
    },
  );
