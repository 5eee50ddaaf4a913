/** The management API's `GET` of one object by its path, for any kind of object. */
import { readObject, type Action, type Actor, type ObjectKind } from "../../admin/index.ts";
import type { AdminServices } from "../services.ts";
import { route, type AdminAnswer, type AdminRequest, type AdminRoute } from "./route.ts";

type Described = Pick<
  AdminRoute,
  "path" | "operationId" | "summary" | "description" | "query" | "answer" | "errors"
>;

interface ReadRoute<Row> extends Described {
  readonly action: Action;
  readonly kind: ObjectKind<Row>;
  /** The object that the path names. @throws GatewayError `not_found` */
  readonly load: (services: AdminServices, params: Params) => Promise<Row>;
  readonly render: (
    services: AdminServices,
    row: Row,
    actor: Actor,
  ) => AdminAnswer | Promise<AdminAnswer>;
}

/** The named segments of a path. */
type Params = AdminRequest<unknown, unknown>["params"];

/** Declares the route: it loads the object, refuses actors who may not read it, and renders it. */
export function readRoute<Row>({ kind, load, render, ...described }: ReadRoute<Row>): AdminRoute {
  const { action } = described;
  return route({
    method: "GET",
    errors: ["not_found"],
    ...described,
    async handle({ services, actor, params }) {
      const row = await readObject(kind, { actor }, action, () => load(services, params));
      return render(services, row, actor);
    },
  });
}
