/** Erases a person with an account: memberships, the account, the names in the audit log. */
import { eraseAuditNames, writeAudit, type RequestContext } from "../../admin/index.ts";
import { GatewayError } from "../../base/errors.ts";
import {
  activeKeysOf,
  changeMany,
  erasePersonRows,
  findPerson,
  membershipsOf,
  type ErasedPerson,
} from "../../tenancy/index.ts";
import type { AdminServices } from "../services.ts";
import { withParam } from "./with-param.ts";
import { endMembership } from "./end-membership.ts";
import { disableMemberKeys } from "./member-keys.ts";

interface PersonErasure {
  /** A user id or an e-mail address. */
  readonly named: string;
  readonly token: string;
  readonly dryRun: boolean;
}

interface Request extends RequestContext {
  readonly services: AdminServices;
}

/** @throws GatewayError `not_found` */
export async function erasePerson(request: Request, { named, token, dryRun }: PersonErasure) {
  const { services } = request;
  const person = await withParam("person", () => findPerson(services, named));
  const naming = { person, token, dryRun };
  // This comes first: while the user still has the name, an interrupted call can be repeated.
  const before = await eraseAuditNames(services.database, naming);
  const rows = await eraseAccount(request, person, { named, token, dryRun });
  // Entries that were written while the memberships ended.
  const since = dryRun
    ? { entries: 0 }
    : await eraseAuditNames(services.database, naming, before.last);
  const erased = {
    users: person.userIds.length,
    ...rows,
    audit_entries: before.entries + since.entries,
  };
  return { token, erased };
}

/** Ends the memberships as an administrator would; then deletes everything else in one transaction. */
async function eraseAccount(
  request: Request,
  person: ErasedPerson,
  { token, dryRun }: PersonErasure,
): Promise<Readonly<Record<string, number>>> {
  const { services, actor, requestId } = request;
  const memberships = await membershipsOf(services, person);
  if (dryRun) {
    const stopping = await activeKeysOf(services, person);
    const keys = stopping.reduce((sum, { n }) => sum + n, 0);
    const rows = await erasePersonRows(services, person, { token, dryRun });
    return { memberships: memberships.length, keys_disabled: keys, ...rows };
  }
  let keys = 0;
  for (const reference of memberships) {
    const ended = await endMembership({ ...request, ifMatch: undefined }, reference);
    keys += ended.disabledKeys.length;
  }
  return changeMany(services.database, async (database) => {
    const within = { ...services, database };
    for (const place of await activeKeysOf(within, person))
      keys += (await disableMemberKeys(within, request, place)).length;
    const rows = await erasePersonRows(within, person, { token, dryRun });
    // The removal may have been taken back, which is possible for ten minutes. The rows that this needs are deleted from here on.
    if ((await membershipsOf(within, person)).length > 0)
      throw new GatewayError(
        "conflict",
        "The person became a member again in the meantime. Erase the person again.",
      );
    const counts = { memberships: memberships.length, keys_disabled: keys, ...rows };
    await writeAudit(within, {
      actor,
      requestId,
      action: "personal_data.erase",
      object: { type: "person", id: token },
      place: {},
      before: null,
      after: counts,
    });
    return counts;
  });
}
