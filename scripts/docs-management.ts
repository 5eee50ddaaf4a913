/** docs/management.md: how the management API is used, and who may do what, from the table the gateway reads. */
import { rights, type Action, type Role } from "../src/admin/index.ts";

const reaches = {
  nothing: "-",
  own: "own",
  workspace: "workspace",
  everything: "all",
} as const;

const roles: readonly Role[] = ["organization_admin", "workspace_admin", "member"];

const row = (action: Action): string =>
  `| \`${action}\` | ${roles.map((role) => reaches[rights[action][role]]).join(" | ")} |`;

export function managementPage(): string {
  return `# Managing

<!-- Generated from src/admin/rights.ts by \`npm run docs\`; its words are in scripts/docs-management.ts. -->

Organizations, workspaces, members, keys and money are managed under \`/admin/v1\`. Every path, field and error is in the
API reference at \`/docs\` of a running gateway. API keys do not open it, and its credentials do not open \`/v1\`.

## Who you are

| credential       | how to get it                                                                                                | what it may do                   |
| ---------------- | ------------------------------------------------------------------------------------------------------------ | -------------------------------- |
| admin token      | \`TOLLGATE_ADMIN_TOKEN\`; without it one is derived from the master key and written to \`admin-token\` in the data directory, the same on every gateway with that master key | administers everything           |
| console session  | \`POST /auth/sign-in/email\`, or the identity provider of \`console.oidc\`                                       | what its user may do             |
| personal token   | \`POST /admin/v1/tokens\` with a session; shown once                                                           | what its user may do, until it ends |

\`\`\`sh
curl http://127.0.0.1:8080/admin/v1/keys -H "Authorization: Bearer $TOLLGATE_ADMIN_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"workspace_id": "ws_...", "name": "ci", "spend_caps": {"monthly": "25.00"}}'
\`\`\`

- Ten failed sign-ins in five minutes close an account for the rest of them, on all gateways.
- A change with a session's cookie is refused to pages of other origins. Behind a proxy, pass the \`Host\` header on.
- Users are added as members. Somebody new gets the \`password\` you give, or a \`one_time_password\` in the answer; a
  user keeps their own. The first sign-in with the identity provider ends a password that somebody else may know.

## How it answers

- Lists are \`{data, has_more, next_cursor}\`; \`?cursor=\` takes \`next_cursor\`. Money is decimal strings of USD.
- In a change \`null\` means no limit, and what is absent stays as it is. Unknown fields are refused.
- Objects come with an \`ETag\`. Sent back as \`If-Match\`, it makes a change fail with 412 where somebody else was
  faster.
- What you may not see is answered like what does not exist.
- A change is in force on every gateway when it is answered, and in \`GET /admin/v1/audit\`: who, what, from what to
  what, without secrets.
- Models of an allowlist that a layer above leaves out stay in it, named in \`out_of_scope_models\`.
- Whoever is removed from a workspace has their keys in it disabled.

## Who may do what

How far a right reaches: **own** (what you made, or what is about you), the **workspace** (everything in workspaces
where you have the role), **all**.

| right | organization admin | workspace admin | member |
| --- | --- | --- | --- |
${(Object.keys(rights) as Action[]).map(row).join("\n")}

Spend caps of a workspace take an organization admin, and a workspace of an organization. A key's owner may lower its
caps; raising or clearing one, or making a hard one soft, takes a workspace admin.
`;
}
