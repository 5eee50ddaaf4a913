/** Queries of the members page. */
import { client, type Schemas } from "../../api/client.ts";
import { usePages } from "../../ui/pages.ts";

export type Member = Schemas["Member"];
export type Workspace = Schemas["Workspace"];

/** The members of a workspace whose name or e-mail contains the text, page by page. */
export const useMembers = (id: string, q: string | undefined) =>
  usePages({
    key: ["get", "/admin/v1/workspaces/{id}/members", { id, q }, "pages"],
    async read(cursor, signal) {
      const params = { path: { id }, query: { limit: "100", q, cursor } };
      return (await client.GET("/admin/v1/workspaces/{id}/members", { params, signal })).data!;
    },
    isKept: true,
  });

const pathOf = ({ workspace_id: id, user_id }: Member) => ({ id, user_id });

/** Reads the current member with its entity tag, which a list lacks. */
export const readMember = async (member: Member): Promise<Member> =>
  (
    await client.GET("/admin/v1/workspaces/{id}/members/{user_id}", {
      params: { path: pathOf(member) },
    })
  ).data!;

type Patch = Schemas["ChangeMemberRequest"];

/** Changes a member; `header` has the `If-Match` of the version that was read. */
export const changeMember = async (
  member: Member,
  body: Patch,
  header: { "If-Match"?: string } = {},
): Promise<Member> =>
  (
    await client.PATCH("/admin/v1/workspaces/{id}/members/{user_id}", {
      params: { path: pathOf(member), header },
      body,
    })
  ).data!;

export const removeMember = async (member: Member) =>
  (
    await client.DELETE("/admin/v1/workspaces/{id}/members/{user_id}", {
      params: { path: pathOf(member) },
    })
  ).data!;

/** Undoes a removal, including the member's stopped keys. */
export const restoreMember = async (member: Member) =>
  client.POST("/admin/v1/workspaces/{id}/members/{user_id}/restore", {
    params: { path: pathOf(member) },
  });

/** The keys that stop when a member is removed: the names of the first hundred. */
export async function keysOf(member: Member) {
  const { workspace_id, user_id } = member;
  const query = { workspace_id, created_by: user_id, status: "active" as const, limit: "100" };
  // Readers who may not read the member get no keys either, without a refusal.
  const [{ data }] = await Promise.all([
    client.GET("/admin/v1/keys", { params: { query } }),
    readMember(member),
  ]);
  return { names: data!.data.map(({ name }) => name), hasMore: data!.has_more };
}
