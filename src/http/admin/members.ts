/** Members of a workspace over the management API: who, in which role, within which caps. Spec: "Authentication" 4 (CAP-12). */
import { Type } from "typebox";
import {
  changeObject,
  createObject,
  etagOf,
  memberKind,
  readObject,
  visibilityOf,
  workspaceKind,
} from "../../admin/index.ts";
import {
  changeMember,
  getMember,
  getWorkspace,
  listMembers,
  removeMember,
} from "../../tenancy/index.ts";
import { joinWorkspace } from "./join-workspace.ts";
import { disableKeysOf } from "./member-keys.ts";
import { memberSchema, renderMembers } from "./member-views.ts";
import { route, type AdminAnswer } from "./route.ts";
import {
  pageOfQuery,
  pageQuery,
  pageSchema,
  renderPage,
  spendCapsBody,
  spendCapsOf,
  strict,
  words,
} from "./schemas.ts";
import type { AdminServices } from "./services.ts";

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
  summary: "Add a member to a workspace",
  description:
    "Makes the user where there is none of this e-mail address: with `password`, or with a one-time password in the answer. Somebody who is a user already keeps their own password, and `password` is not used.",
  action: "member.create",
  body: strict({
    email: Type.String({ maxLength: 254 }),
    role,
    name: Type.Optional(Type.String()),
    password: Type.Optional(Type.String({ minLength: 8, maxLength: 128 })),
    spend_caps: Type.Optional(spendCapsBody),
  }),
  example: { email: "ann@example.com", role: "member" },
  answer: {
    name: "MemberAdded",
    schema: Type.Object({
      ...memberSchema.schema.properties,
      user_created: Type.Boolean({ description: "False: they were a user already." }),
      one_time_password: Type.Optional(
        Type.String({ description: "Shown once, for a new user without `password`." }),
      ),
    }),
  },
  status: 201,
  errors: ["not_found", "insufficient_permissions", "conflict"],
  async handle(request) {
    const { services, params, body } = request;
    const workspaceId = params["id"]!;
    const made = await createObject(services, memberKind, request, {
      action: "member.create",
      place: async (context) => ({
        place: workspaceKind.place(await getWorkspace(context, workspaceId)),
        what: workspaceKind.what,
      }),
      create: (context) =>
        joinWorkspace(context, {
          workspaceId,
          email: body.email,
          name: body.name,
          role: body.role,
          password: body.password,
          spendCaps: spendCapsOf(body.spend_caps),
        }),
      row: ({ member }) => member,
    });
    const shown = await answer(services, made.member);
    const { userCreated, oneTimePassword } = made;
    return {
      ...shown,
      body: {
        ...shown.body,
        user_created: userCreated,
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
  description: "Members who are no admins see themselves.",
  action: "member.read",
  query: strict(pageQuery),
  answer: { name: "Members", schema: pageSchema(memberSchema.schema) },
  errors: ["not_found"],
  async handle({ services, actor, params, query }) {
    const workspace = await readObject(workspaceKind, { actor }, "workspace.read", () =>
      getWorkspace(services, params["id"]!),
    );
    const page = await listMembers(services, {
      ...pageOfQuery(query),
      workspaceId: workspace.id,
      visibility: visibilityOf(actor, "member.read"),
    });
    return { body: renderPage(page, await renderMembers(services, page.records)) };
  },
});

const referenceOf = (params: Readonly<Record<string, string>>) => ({
  workspaceId: params["id"]!,
  userId: params["user_id"]!,
});

const read = route({
  method: "GET",
  path: "/workspaces/{id}/members/{user_id}",
  operationId: "getMember",
  summary: "Read a member",
  action: "member.read",
  answer: memberSchema,
  errors: ["not_found"],
  async handle({ services, actor, params }) {
    const member = await readObject(memberKind, { actor }, "member.read", () =>
      getMember(services, referenceOf(params)),
    );
    return answer(services, member);
  },
});

const change = route({
  method: "PATCH",
  path: "/workspaces/{id}/members/{user_id}",
  operationId: "changeMember",
  conditional: true,
  summary: "Change a member's role or spend caps",
  description: "Takes a workspace admin. null: no limit. Absent: unchanged.",
  action: "member.change",
  body: strict({ role: Type.Optional(role), spend_caps: Type.Optional(spendCapsBody) }),
  example: { spend_caps: { monthly: "50.00" } },
  answer: memberSchema,
  errors: ["not_found", "insufficient_permissions"],
  async handle(request) {
    const { services, params, body } = request;
    const reference = referenceOf(params);
    const member = await changeObject(services, memberKind, request, {
      action: "member.change",
      load: (context) => getMember(context, reference, { forUpdate: true }),
      apply: (context) =>
        changeMember(context, reference, {
          role: body.role,
          spendCaps: spendCapsOf(body.spend_caps),
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
    "The active keys they made in it are disabled with it: their holder has left, and the member's caps no longer bind them. A workspace admin may enable them again.",
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
    const { services, params } = request;
    const reference = referenceOf(params);
    let disabled: string[] = [];
    const member = await changeObject(services, memberKind, request, {
      action: "member.delete",
      removes: true,
      load: (context) => getMember(context, reference, { forUpdate: true }),
      async apply(context) {
        disabled = await disableKeysOf(context, request, reference);
        return removeMember(context, reference);
      },
    });
    return {
      body: {
        object: "member",
        user_id: member.userId,
        deleted: true,
        disabled_keys: disabled,
      },
    };
  },
});

export const memberRoutes = [create, list, read, change, remove];
