/** Members of a workspace over the management API: their users, roles and caps. CAP-12. */
import { Type } from "../../base/json-schema.ts";
import {
  changeObject,
  checkObjectLimit,
  createObject,
  etagOf,
  memberKind,
  readObject,
  visibilityOf,
  workspaceKind,
  placeOfWorkspace,
} from "../../admin/index.ts";
import {
  changeMember,
  firstPassword,
  getMember,
  getWorkspace,
  invitationDays,
  invite,
  listMembers,
} from "../../tenancy/index.ts";
import { timestamp } from "../shapes/schema.ts";
import type { AdminServices } from "../services.ts";
import { endMembership } from "./end-membership.ts";
import { auditInvited, auditRevoked } from "./invitations.ts";
import { memberSchema, renderMembers } from "./member-views.ts";
import { route, type AdminAnswer } from "./route.ts";
import { readRoute } from "./read-route.ts";
import {
  pageOfQuery,
  pageQuery,
  pageSchema,
  rateLimitsBody,
  rateLimitsOf,
  renderPage,
  searchText,
  spendCapsBody,
  spendCapsOf,
  strict,
  words,
} from "./schemas.ts";

const role = words("admin", "member");

async function answer(
  services: AdminServices,
  member: Awaited<ReturnType<typeof getMember>>,
): Promise<AdminAnswer> {
  const [body] = await renderMembers(services, [member]);
  return { body: body!, etag: etagOf(memberKind.view(member)) };
}

const create = route({
  method: "POST",
  path: "/workspaces/{id}/members",
  operationId: "addMember",
  summary: "Invite a member into a workspace",
  description: `The member is \`invited\`, without any right, until they accept. They accept with the link \`invitation.url\`, which works once within ${invitationDays} days, or by signing in with \`password\` or the one-time password of the answer, and changing it. Both are shown once. Inviting the address again replaces the invitation. The answer is the same whether the address has an account or not. \`user_id\` stays valid in paths, also after they join with another account.`,
  action: "member.create",
  body: strict({
    email: Type.String({ maxLength: 254 }),
    role,
    name: Type.Optional(Type.String()),
    password: Type.Optional(
      Type.String({
        minLength: 8,
        maxLength: 128,
        description:
          "At least 8 characters. Opens one session, which may only change it. If it is set with the admin token, the member keeps it, and signing in accepts the invitation.",
      }),
    ),
    spend_caps: Type.Optional(spendCapsBody),
  }),
  example: { email: "ann@example.com", role: "member" },
  answer: {
    name: "MemberAdded",
    schema: Type.Object({
      ...memberSchema.schema.properties,
      invitation: Type.Object({
        id: Type.String(),
        url: Type.String({ description: "Shown once. Anyone who has it can accept." }),
        expires_at: timestamp("When it can no longer be accepted."),
      }),
      one_time_password: Type.Optional(
        Type.String({ description: "Shown once, if no `password` was given." }),
      ),
    }),
  },
  status: 201,
  errors: ["not_found", "insufficient_permissions", "conflict"],
  async handle(request) {
    const { services, params, body } = request;
    const workspaceId = params["id"]!;
    // Check the right before the password is hashed, which is expensive. Hash it before the transaction, which must not wait for that.
    await readObject(workspaceKind, request, "member.create", () =>
      getWorkspace(services, workspaceId),
    );
    const { email, password } = body;
    const byOperator = request.actor.kind === "admin_token";
    const hashed = await firstPassword(services, { email, password, byOperator });
    const made = await createObject(services, memberKind, request, {
      action: "member.create",
      place: (context) => placeOfWorkspace(context, workspaceId),
      async create(context) {
        if (!request.actor.organizationAdmin)
          await checkObjectLimit(context, "invitation", workspaceId);
        const invited = await invite(context, {
          workspaceId,
          email,
          name: body.name,
          role: body.role,
          password: hashed,
          spendCaps: spendCapsOf(body.spend_caps),
        });
        if (invited.replaced) await auditRevoked(context, request, invited.replaced);
        await auditInvited(context, request, invited.member);
        return invited;
      },
      row: ({ member }) => member,
    });
    const { member, token, oneTimePassword } = made;
    const { body: shown } = await answer(services, member);
    // The token is after the `#`, which no browser sends: no log has it.
    const url = new URL(`/join#${token}`, services.publicUrl()).href;
    return {
      etag: etagOf(memberKind.view(member)),
      body: {
        ...shown,
        invitation: {
          id: member.invitation!.id,
          url,
          expires_at: member.invitation!.expiresAt.toISOString(),
        },
        ...(oneTimePassword !== undefined && { one_time_password: oneTimePassword }),
      },
    };
  },
});

const list = route({
  method: "GET",
  path: "/workspaces/{id}/members",
  operationId: "listMembers",
  summary: "List the members of a workspace",
  description: "Members who are not admins see only themselves.",
  action: "member.read",
  query: strict({
    q: searchText("Part of the name or the e-mail address; case does not matter."),
    ...pageQuery,
  }),
  answer: { name: "Members", schema: pageSchema(memberSchema.schema) },
  errors: ["not_found"],
  async handle({ services, actor, params, query }) {
    const workspace = await readObject(workspaceKind, { actor }, "workspace.read", () =>
      getWorkspace(services, params["id"]!),
    );
    const page = await listMembers(services, {
      ...pageOfQuery(query),
      workspaceId: workspace.id,
      q: query.q,
      visibility: visibilityOf(actor, "member.read"),
    });
    return { body: renderPage(page, await renderMembers(services, page.records)) };
  },
});

const referenceOf = (params: Readonly<Record<string, string>>) => ({
  workspaceId: params["id"]!,
  userId: params["user_id"]!,
});

const read = readRoute({
  path: "/workspaces/{id}/members/{user_id}",
  operationId: "getMember",
  summary: "Read a member",
  action: "member.read",
  answer: memberSchema,
  kind: memberKind,
  load: (services, params) => getMember(services, referenceOf(params)),
  render: answer,
});

const change = route({
  method: "PATCH",
  path: "/workspaces/{id}/members/{user_id}",
  operationId: "changeMember",
  conditional: true,
  summary: "Change a member's role, spend caps or rate limits",
  description: "Requires a workspace admin. null: no limit. Absent: unchanged.",
  action: "member.change",
  body: strict({
    role: Type.Optional(role),
    spend_caps: Type.Optional(spendCapsBody),
    rate_limits: Type.Optional(rateLimitsBody),
  }),
  example: { spend_caps: { monthly: "50.00" } },
  answer: memberSchema,
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    const { services, params, body } = request;
    const reference = referenceOf(params);
    const member = await changeObject(services, memberKind, request, {
      action: "member.change",
      load: (context) => getMember(context, reference, { forUpdate: true }),
      apply: (context, before) =>
        changeMember(context, before, {
          role: body.role,
          spendCaps: spendCapsOf(body.spend_caps),
          rateLimits: rateLimitsOf(body.rate_limits),
        }),
    });
    return answer(services, member);
  },
});

const remove = route({
  method: "DELETE",
  path: "/workspaces/{id}/members/{user_id}",
  operationId: "removeMember",
  conditional: true,
  summary: "Remove a member from a workspace",
  description:
    "This disables the member's active keys in the workspace, because their holder has left and the member's caps no longer apply. A workspace admin may enable them again, or undo the removal within ten minutes. An open invitation ends.",
  action: "member.delete",
  answer: {
    name: "MemberRemoved",
    schema: Type.Object({
      object: Type.Literal("member"),
      user_id: Type.String(),
      deleted: Type.Literal(true),
      disabled_keys: Type.Array(Type.String()),
    }),
  },
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    const { params } = request;
    const { member, disabledKeys } = await endMembership(request, referenceOf(params));
    return {
      body: {
        object: "member",
        user_id: member.userId,
        deleted: true,
        disabled_keys: [...disabledKeys],
      },
    };
  },
});

export const memberRoutes = [create, list, read, change, remove];
