/** The search of the console's palette: keys, members, workspaces and models by a part of their names. */
import { Type } from "../../base/json-schema.ts";
import { allows, search, visibilityOf } from "../../admin/index.ts";
import { route } from "./route.ts";
import { strict } from "./schemas.ts";

const modelsMax = 5;

const find = route({
  method: "GET",
  path: "/search",
  operationId: "search",
  summary: "Find by a part of a name",
  description:
    "Up to five each of the keys, members, workspaces and models that you see: keys by name, last four characters or id, members by name or e-mail address. Names that begin with the text come first.",
  action: null,
  query: strict({
    q: Type.String({
      minLength: 2,
      maxLength: 100,
      description: "At least two characters; case does not matter.",
    }),
  }),
  answer: {
    name: "SearchResults",
    schema: Type.Object({
      keys: Type.Array(
        Type.Object({
          id: Type.String(),
          name: Type.String(),
          key_last4: Type.String(),
          status: Type.String(),
          workspace_id: Type.String(),
        }),
      ),
      members: Type.Array(
        Type.Object({
          user_id: Type.String(),
          email: Type.String(),
          name: Type.String(),
          workspace_id: Type.String(),
        }),
      ),
      workspaces: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
      models: Type.Array(Type.Object({ id: Type.String(), kind: Type.String() })),
    }),
  },
  async handle({ services, actor, query: { q } }) {
    const found = await search(services.database, q, {
      keys: visibilityOf(actor, "key.read"),
      members: visibilityOf(actor, "member.read"),
      workspaces: visibilityOf(actor, "workspace.read"),
    });
    const text = q.toLowerCase();
    const placeOf = (id: string): number => id.toLowerCase().indexOf(text);
    const all = allows(actor, "model.read", {}) ? services.catalog().models.values() : [];
    const models = [...all]
      .filter(({ id }) => placeOf(id) !== -1)
      .toSorted((one, other) => placeOf(one.id) - placeOf(other.id))
      .slice(0, modelsMax)
      .map(({ id, kind }) => ({ id, kind }));
    return { body: { ...found, models } };
  },
});

export const searchRoutes = [find];
