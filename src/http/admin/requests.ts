/** The request log over the management API. docs/management.md. */
import { Type } from "../../base/json-schema.ts";
import {
  findNeighbours,
  getRequest,
  listRequestHeadlines,
  listRequests,
  visibilityOf,
} from "../../admin/index.ts";
import { orNull, timestamp } from "../shapes/schema.ts";
import { requestBody } from "./request-body.ts";
import { filterOf, requestFilters } from "./request-filters.ts";
import { listedRequest, requestCsv, requestDetail } from "./request-shapes.ts";
import { route } from "./route.ts";
import { pageOfQuery, pageQuery, pageSchema, renderPage, strict, words } from "./schemas.ts";

const list = route({
  method: "GET",
  path: "/requests",
  operationId: "listRequests",
  summary: "The request log, newest first",
  description:
    "Every call and every task that ended, about a second behind (with a read replica, up to 10 s by default). Workspace admins see their workspaces, members the calls of their own keys. `from` is inclusive, `to` exclusive. With `member_id`, `attempted_provider`, `protocol`, `http_status`, `error_code`, `min_cost`, `min_duration_ms`, `q`, `changed`, `tag` or `end_user` a page scans about 50,000 rows and may be short although `has_more` is true; the scan ended at `scanned_to`. `view=list` leaves out plans, attempts, notes and price lines. `sort=cost` has the most expensive first, within at most 31 days and about the newest 50,000 rows of them; `scanned_to` says if there were more.",
  action: "request.read",
  query: strict({
    ...requestFilters,
    view: Type.Optional(words("list", "full")),
    ...pageQuery,
  }),
  answer: {
    name: "RequestRows",
    schema: Type.Object({
      ...pageSchema(listedRequest).properties,
      scanned_to: orNull(
        timestamp("Where the scan ended; null: it reached the end of the requested range."),
      ),
    }),
  },
  csv: requestCsv,
  async handle({ services, actor, query }) {
    await services.logWritten();
    const filter = {
      ...pageOfQuery(query),
      visibility: visibilityOf(actor, "request.read"),
      ...filterOf(query),
    };
    // A page continues after the last one: a replica must not miss a row between them.
    const exact = query.cursor !== undefined;
    const page = await services.reads.read(
      (database) =>
        query.view === "list"
          ? listRequestHeadlines(database, filter)
          : listRequests(database, filter, services.catalog()),
      { exact },
    );
    const scannedTo = page.scannedTo?.toISOString() ?? null;
    return { body: { ...renderPage(page, page.records), scanned_to: scannedTo } };
  },
});

const read = route({
  method: "GET",
  path: "/requests/{id}",
  operationId: "getRequest",
  summary: "One row of the request log",
  action: "request.read",
  description:
    "Also has the fields that the list leaves out: the error, the reservation, the price line by line, the changes.",
  answer: { name: "RequestRow", schema: requestDetail },
  errors: ["not_found"],
  async handle({ services, actor, params }) {
    await services.logWritten();
    const visibility = visibilityOf(actor, "request.read");
    return { body: await getRequest(services, params["id"]!, visibility) };
  },
});

const neighbours = route({
  method: "GET",
  path: "/requests/{id}/neighbours",
  operationId: "getRequestNeighbours",
  summary: "The calls before and after one in the list",
  action: "request.read",
  description:
    "With the filters and the order of `GET /requests`: `previous` is above the call in that list, `next` below it. Filters that limit the scan there limit it to the same number of rows in each direction.",
  query: strict(requestFilters),
  answer: {
    name: "RequestNeighbours",
    schema: Type.Object({
      previous: orNull(Type.String({ description: "null: the call is the first." })),
      next: orNull(Type.String({ description: "null: the call is the last." })),
    }),
  },
  errors: ["not_found"],
  async handle({ services, actor, params, query }) {
    await services.logWritten();
    const filter = { visibility: visibilityOf(actor, "request.read"), ...filterOf(query) };
    const id = params["id"]!;
    return { body: await services.reads.read((database) => findNeighbours(database, id, filter)) };
  },
});

export const requestRoutes = [list, read, neighbours, requestBody];
