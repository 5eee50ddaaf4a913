/** The owner of a management credential, with roles and rights: the console shows them first. */
import { rightsOf } from "../../admin/index.ts";
import { Type } from "../../base/json-schema.ts";
import { hasFirstPassword } from "../../tenancy/index.ts";
import { orNull } from "../shapes/schema.ts";
import { route } from "./route.ts";
import { words } from "./schemas.ts";

const actionList = (description: string) => Type.Array(Type.String(), { description });

const rightsSchema = Type.Object(
  {
    everywhere: actionList("On every object."),
    own: actionList("On your own objects outside workspaces, such as personal tokens."),
    workspaces: Type.Record(
      Type.String(),
      Type.Object({
        all: actionList("On everything in the workspace."),
        own: actionList("On objects in it that you made, or that are about you."),
      }),
      { description: "By workspace id; empty for organization admins, who need none." },
    ),
  },
  { description: "Your rights, by the names in the table of rights." },
);

const read = route({
  method: "GET",
  path: "/me",
  operationId: "getMe",
  summary: "The current user and their roles",
  action: null,
  answer: {
    name: "Me",
    schema: Type.Object({
      object: Type.Literal("actor"),
      kind: words("admin_token", "token", "session"),
      user_id: orNull(Type.String({ description: "null: the admin token." })),
      name: Type.String({ description: "The e-mail address of a user." }),
      organization_admin: Type.Boolean(),
      memberships: Type.Array(
        Type.Object({
          workspace_id: Type.String(),
          organization_id: orNull(Type.String()),
          role: words("admin", "member"),
        }),
      ),
      rights: rightsSchema,
      has_first_password: Type.Boolean({
        description:
          "You use the password that the first start printed. Anyone who reads its output or log can have it: choose your own.",
      }),
    }),
  },
  async handle({ services, actor }) {
    const memberships = [...actor.memberships].map(([workspaceId, { role, organizationId }]) => ({
      workspace_id: workspaceId,
      organization_id: organizationId,
      role,
    }));
    const { userId } = actor;
    return {
      body: {
        object: "actor",
        kind: actor.kind,
        user_id: actor.userId,
        name: actor.name,
        organization_admin: actor.organizationAdmin,
        memberships,
        rights: rightsOf(actor),
        has_first_password: userId !== null && (await hasFirstPassword(services.database, userId)),
      },
    };
  },
});

export const meRoutes = [read];
