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
    everywhere: actionList("Whatever it is done to."),
    own: actionList("With what is your own, in no workspace, such as personal tokens."),
    workspaces: Type.Record(
      Type.String(),
      Type.Object({
        all: actionList("With everything in the workspace."),
        own: actionList("With what you made in it, or what is about you."),
      }),
      { description: "By workspace id; empty for organization admins, who need none." },
    ),
  },
  { description: "What you may do, by the names of the table of rights." },
);

const read = route({
  method: "GET",
  path: "/me",
  operationId: "getMe",
  summary: "Who you are, and in which roles",
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
          "You sign in with the password that the first start printed. Whoever reads its output or log may have it: choose your own.",
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
