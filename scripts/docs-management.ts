/** Generates docs/management.md: the use of the management API, and permissions from the table that the gateway uses. */
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
API reference at \`/docs\` of a running gateway. API keys do not work under \`/admin/v1\`, and its credentials do not work under \`/v1\`.

## Credentials

| credential       | how to get it                                                                                                | what it may do                   |
| ---------------- | ------------------------------------------------------------------------------------------------------------ | -------------------------------- |
| admin token      | \`TOLLGATE_ADMIN_TOKEN\`; without it one is derived from the master key and written to \`admin-token\` in the data directory, the same on every gateway with that master key | administers everything           |
| console session  | \`POST /auth/sign-in/email\`, or the identity provider of \`console.oidc\`                                       | what its user may do             |
| personal token   | \`POST /admin/v1/tokens\` with a session; shown once                                                           | what its user may do, until it ends, is revoked, or the password changes |

From a fresh start with the sandbox to a bill, line by line. The same with \`npx tollgate\` follows:

\`\`\`sh
TOLLGATE_ADMIN_TOKEN=$(cat .tollgate/admin-token)
admin() { curl -sS -H "Authorization: Bearer $TOLLGATE_ADMIN_TOKEN" -H "Content-Type: application/json" "http://127.0.0.1:8080/admin/v1$@"; }

admin "/workspaces"                                              # note the id of a workspace
WORKSPACE=ws_...
admin "/workspaces/$WORKSPACE/credits" -H "Idempotency-Key: invoice-1" -d '{"amount": "25.00"}'
admin "/keys" -d '{"workspace_id": "'$WORKSPACE'", "name": "ci", "spend_caps": {"daily": "5.00"}}'    # note the key
KEY=gw_live_...
curl -sS http://127.0.0.1:8080/v1/chat/completions -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"model": "sandbox/chat", "messages": [{"role": "user", "content": "Hello!"}]}'
admin "/requests?limit=1"                                        # what it did, what it cost, which providers were asked and why
admin "/usage?granularity=day&group_by=model"
admin "/workspaces/$WORKSPACE/balance"
\`\`\`

\`\`\`sh
npx tollgate workspaces list
npx tollgate credits add 25.00 --reference invoice-1
npx tollgate keys create --name ci --daily-cap 5.00
npx tollgate members add ada@example.com --role admin
npx tollgate usage --by model --granularity day
npx tollgate requests list --status failed
npx tollgate requests show req_...                               # why it failed, which providers were asked, what it cost
\`\`\`

The commands call the gateway that runs on the data directory, or the one at \`--url\` with \`TOLLGATE_ADMIN_TOKEN\`. If no gateway
runs, they work on the database of the data directory. \`--json\` prints the answer of the API. For keys, workspaces and members the
commands read the list to its end, and \`--json\` prints only the rows. \`credits add\` and \`credits take\` print the balance after it.

A second \`credits add\` or \`credits take\` with the same \`--reference\` changes nothing. With the same amount it prints the earlier
entry and exits with 0. With another amount it is refused, names the first amount, and exits with 1.

### Limits of sign-ins

- After ten wrong passwords in five minutes an account takes no sign-ins until those five minutes are over, on all gateways. All
  spellings of an e-mail address count as one account. After fifty wrong passwords from one network address, that address is closed.
- Guessing by a stranger does not lock out the owner. A browser in which a user signed in before is exempt from both limits. It has
  ten attempts of its own, for that user's password only.
- The gateway recognises such a browser by the cookie \`tollgate.browser\`, which grants no access. The cookie ends after 90 days, or
  when the password changes. With \`rememberMe: false\` it is not set.
- During an attack, a browser that the owner never used has to wait. Open sessions and tokens keep working.
- Changing the password, with a session, has ten attempts of its own. So does accepting an invitation, per e-mail address.
- A process checks two passwords at a time, and 30 more wait, so that guessing leaves its threads to calls. Browsers in which a
  user signed in before have one more slot. Further sign-ins get 503 \`overloaded\`; that does not mean that the password is wrong.
- The gateway refuses a change with a session's cookie from a page of another origin. If you run a proxy, let it pass the \`Host\`
  header on.

## Limits per person and workspace

| object                                                             | at most                   |
| ---------------------------------------------------------------- | ------------------------- |
| API keys of one member in one workspace                          | 1000                      |
| personal tokens of a user                                        | 100                       |
| invited members of a workspace, and those added within a day | 1000                      |
| test events of a workspace                                       | 100 an hour               |
| open sessions of a user                                          | 100; a new one ends the oldest |

Beyond a limit the answer is 409 \`conflict\`, with what to do. Revoked keys and tokens count for a day after they were made, and
expired keys for a day after they expire. The limits do not apply to organization administrators, also when they create keys for
others. Concurrent requests can exceed a limit by a few.

## How people join

\`POST /workspaces/{id}/members {email, role, password?}\` invites a person. The member exists at once, with status
\`invited\` and without any right, and becomes \`active\` when the person accepts. The answer has:

| field | meaning |
| --- | --- |
| \`user_id\` | identifies the member in paths, also after they join with another account |
| \`invitation {id, url, expires_at}\` | the link, shown once. Anyone who has it can accept, once, within seven days |
| \`one_time_password\` | if you sent no \`password\`: another way to accept, for seven days |

\`\`\`sh
npx tollgate members add ada@example.com --role admin            # prints the link
INVITATION=gw_inv_...                                            # the part after its #

curl -sS http://127.0.0.1:8080/auth/invitations/read -H "Content-Type: application/json" \\
  -d '{"token": "'$INVITATION'"}'                                # which organization and workspace
curl -sS http://127.0.0.1:8080/auth/invitations/accept -H "Content-Type: application/json" -c cookies \\
  -d '{"token": "'$INVITATION'", "password": "a password of my own", "name": "Ada"}'
curl -sS http://127.0.0.1:8080/admin/v1/me -b cookies
\`\`\`

There are five ways to accept:

- **Open the link in a browser** and fill in the form. Opening it changes nothing.
- **Choose a password**, as above. If an account with the same address has that password, the member joins with that account.
- **Join with the account that you are signed in with**: the same call with a session's cookie and without \`password\`. The address of
  your account does not matter.
- **Sign in with the one-time password** (or the \`password\` that an admin chose), and change it. It opens one session,
  and every call with that session is 403 \`password_change_required\` except \`POST /auth/change-password\` and
  \`POST /auth/sign-out\`. Changing the password accepts the invitation.
- **Sign in with a \`password\` that was set with the admin token**, within seven days. Signing in accepts, and the password
  need not be changed. So a script can add members who can work at once, also one person to several workspaces with one password.
  This gives away nothing: the holder of the admin token may do all that members may.

Rules:

- An e-mail address alone gives no access. Each invitation has a user of its own. So another organization that adds the same address,
  with a password that it knows, gets no access to your workspaces.
- Several users can have one address. At sign-in the password decides which user it is. If several of them chose the same password,
  they count as one person: their open invitations move to the user who has joined before, else to the newest. So a one-time
  password that is changed to the password of such an account joins with that account.
- Two users of an address who have both joined cannot have the same password: changing or resetting it to the other's is refused. After
  ten tries in five minutes the gateway no longer compares, so that nobody can guess.
- The answer is the same, and takes the same time, whether the address has an account or not. Only an address that is a
  member of this workspace already gets 409.
- Inviting an address again replaces link, password, role and caps, and keeps \`user_id\`. It ends sessions and personal
  tokens of that user. If the user has joined another workspace since, they keep theirs, and the invitation has another \`user_id\`.
- When an invitation ends, its password stops working.
- To revoke an invitation, call \`DELETE /workspaces/{id}/invitations/{invitation_id}\`, or remove the member.
- Tokens and passwords are kept as hashes. An invitation that was used, replaced or revoked, or has expired, is 404.
- The identity provider of \`console.oidc\` verifies addresses. Signing in with it accepts all open invitations of that
  address. The first time, it also ends a password that another person may know, with its sessions and personal tokens.
  With an address that the provider reports as not verified (\`email_verified: false\`) a sign-in fails.
- Users of the identity provider are identified by the provider's \`issuer\` and their id there. With another \`issuer\` they are
  found by their verified address again. The same id at another provider is another person.
- The gateway checks the rights for a change when the whole body has arrived, not when the request began.
- \`POST /auth/change-password {currentPassword, newPassword, keep_tokens?}\` ends all other sessions, and personal tokens
  unless \`keep_tokens\` is true. Its answer sets the cookie of a new session.
- The audit log has \`member.create\`, \`invitation.create\`, \`invitation.revoke\`, \`invitation.accept\`,
  \`password.change\`, and \`password.end\` if the identity provider ended a password.

### Your identity provider

Register the gateway there as a web client with a secret (OpenID Connect, authorization code). Then set in the
configuration:

\`\`\`yaml
console:
  oidc:
    issuer: https://login.example.com
    client_id: tollgate
    client_secret: \${OIDC_CLIENT_SECRET}
\`\`\`

- **Redirect URI**: \`TOLLGATE_PUBLIC_URL\` followed by \`/auth/callback/oidc\`, such as \`https://gateway.example.com/auth/callback/oidc\`.
- **Client authentication**: \`client_secret_post\`, or \`client_secret_basic\` if the discovery document names only that one.
  PKCE is used.
- **Scopes**: \`openid email profile\`. The ID token or the userinfo endpoint must have \`email\`.
- **Discovery**: the gateway reads \`/.well-known/openid-configuration\` below \`issuer\` at the first sign-in.
- **Checks**: the ID token must be signed, have an expiry, be for this client (\`azp\` too), and belong to this sign-in. Claims of the
  userinfo endpoint count if they are about the same \`sub\`.
- **Stored**: \`issuer\` and \`sub\`. The provider's access, refresh and ID tokens are not stored.
- If the provider does not answer, signing in with it is 504 after ten seconds. Passwords and open sessions keep working.
- Signing in does not make a person a member. Add people first, by the address that the provider has for them.
- **Removed people**: the gateway asks the provider at sign-in only. A person who is removed there keeps their personal tokens, and
  each session until it is unused for a week. Remove them here, too.

## Sessions and lost passwords

\`GET /sessions\` lists your open sessions, with the \`ip\` and \`user_agent\` that opened them. \`DELETE /sessions/{id}\` ends
one, and \`DELETE /sessions\` all except the one that sends the request. Only you see your sessions.

\`POST /workspaces/{id}/members/{user_id}/reset_password\` creates a link with which a member chooses a new password. The
answer has \`url\`, shown once, and \`expires_at\`. The link opens a page of the console, which sends the token in a body:

\`\`\`sh
curl -sS http://127.0.0.1:8080/auth/password-resets/use -H "Content-Type: application/json" -c cookies \\
  -d '{"token": "gw_pwr_...", "password": "a password of my own"}'
\`\`\`

- A link works once, for 24 hours. It ends when a new link is made or the password changes.
- The password gives access to every workspace of its user. So a workspace admin may make links only for members all of whose
  workspaces that admin administers. Links for others, for organization admins, and for people who sign in with the identity
  provider require an organization admin.
- The rule is checked again when the link is used. It is 404 if the admin who made it or the member has left since, or the
  member has joined another workspace.
- Using the link ends all sessions and personal tokens of the user. The old password works until then.
- The audit log has \`session.end\`, \`member.reset_password\` and \`password.reset\`.

## Conventions

- Lists are \`{data, has_more, next_cursor}\`; \`?cursor=\` takes \`next_cursor\`. Money is decimal strings of USD.
- In a change \`null\` means no limit, and absent fields stay as they are. Unknown fields are refused.
- A parameter is refused if it is empty (except the search text \`q\`), is there twice, or is a field of the body. To list everything,
  leave the parameter out.
- Objects come with an \`ETag\`. Send it as \`If-Match\`: if the object has changed since, the change fails with 412.
- Objects that you may not see get the same answer as objects that do not exist.
- When a change is answered, it is in force on every gateway. \`GET /admin/v1/audit\` has it too: who changed what, the old and the new
  value, without secrets.
- \`GET /balances\` has the balance of each workspace that you see, in pages: the same numbers as \`/workspaces/{id}/balance\`.
  \`order=available\` puts the lowest first. The first page has the \`sum\` of all.
- \`expires_at\` of a new key must be in the future. In a change, a time in the past ends the key at once.
- \`GET /models?key_id=\` says for each model whether that key may call it, and which layer is the first to exclude it.
  \`ids\` names up to twenty models, and adds their parameters and exact domains.
- Models of an allowlist that a layer above excludes stay in it, listed in \`out_of_scope_models\`.
- An allowlist takes ids of models. It also takes a name that is no model's id, because the model may be added later. Until then the
  name allows nothing. \`unknown_models\` lists the first of these names. \`did_you_mean\` is the model of which it is an alias
  (\`is_alias\`), or whose id is similar. \`tollgate keys create\` and \`workspaces create\` print the same as notes.
- A list of models or providers has at most 10,000 names, and at most 200,000 characters in all.
- Removing a member from a workspace disables their keys in it. \`POST .../members/{user_id}/restore\` reverts that
  within ten minutes: role, caps, limits, and the keys that were disabled. An administrator may enable such a key later,
  for example for a program that still uses it: then rotate it, because the removed person knows it. The member's caps no longer apply to it.

## Logs, usage and status

| path | what it shows |
| --- | --- |
| \`/requests\`, \`/requests/{id}\` | every call and every task that ended: model, provider, usage, cost, times, dropped parameters, each attempt, the plan and its reasons. The id is the call's \`x-request-id\` |
| \`/tasks\`, \`/tasks/{id}\` | tasks as their callers read them, with attempts, reservation, deadline. \`/tasks/{id}/shapes\` has all four shapes, \`POST .../{id}/cancel\` cancels a task by the same rule as for callers |
| \`/webhook_deliveries\` | callbacks and the last 100 attempts of each. \`POST .../{id}/redeliver\` sends one again, \`POST /workspaces/{id}/webhook_test\` tests an address |
| \`/usage\` | requests, errors, tokens, times and cost by \`hour\`, \`day\`, \`month\` or in \`total\`, by one group; see below |
| \`/models\`, \`/providers\` | the configuration, with health as the answering gateway sees it: plans skip what is \`out\` |
| \`/verify\` | \`POST\` checks every balance, counter and sum against the entries; \`GET\` shows the current or the last run: \`state\` and \`differences\`. For organization admins; one run at a time on all gateways |
| \`/gateways\` | the running processes: version, start, last report, calls in flight, event loop lag, memory. For organization admins |
| \`/audit\` | who changed what |

- \`/requests/{id}\` has fields that the list leaves out:
  - \`error\`: the message that the caller got.
  - \`reserved\`: the reserved amount.
  - \`changes\`: each field that was changed.
  - \`price_lines\`: the charge line by line. The lines add up to \`cost\` exactly. \`/requests\` has them too, and its CSV has them as JSON
    in one cell.
  - \`price_lines_from\`: \`call\` if the price that charged the call was stored with it, so later prices change nothing. Older calls have
    no stored price. If today's price gives the same cost, it explains the call: \`catalog\`. Else \`price_lines\` is null.
- \`/requests/{id}/body\` has the texts of a call, word for word: the caller's request, the request to the provider, and the answer.
  Readers of the request may read it. The workspace decides whether it is stored: \`keep_bodies\` is \`off\`, \`errors\` or \`all\`, and
  \`body_retention_days\` is 1 to 90. New days also apply to stored texts. Switching it on is in the audit log.
  - Text and embedding calls are stored, up to 256 kB of each text. Pictures and videos are not.
  - Texts are sealed with the master key. Headers are never stored. Keys, tokens and signing secrets in the texts are masked.
  - A process that cannot write fast enough stores fewer calls, and logs that.
- \`/requests?view=list\` has small rows without plans, attempts, notes and price lines, with \`key_name\`, \`error\` (the code),
  \`attempts_count\` and \`dropped_count\`.
- \`/requests\` also filters by \`member_id\`, \`attempted_provider\`, \`protocol\`, \`http_status\`, \`error_code\`, \`min_cost\`,
  \`min_duration_ms\`, \`q\` (text in the error) and \`changed\`. With these a page scans about 50,000 rows; \`scanned_to\` is where the scan
  ended. Over more than 25 workspaces it scans in steps, for about half a second. \`status\` takes several values separated by commas.
- \`/requests/{id}/neighbours\` has the ids of the calls before and after a call, \`previous\` and \`next\`, in the list with the same
  filters and order.
- \`/keys/{id}/clients\` shows the addresses from which a key was used in the last 30 days: \`ip\`, \`user_agent\` (the last one, up to 200
  characters), \`first_seen_at\`, \`last_seen_at\` and \`requests\`. It keeps the hundred addresses used last. Behind a
  proxy set \`TOLLGATE_TRUSTED_PROXIES\`; otherwise every address is the proxy's.
- \`/search?q=\` finds keys, members, workspaces and models that you see by a part of a name, up to five of each.
- \`/events\` streams changes to the console as server-sent events. It requires the session of a console user.
  - \`topics\` selects \`requests\`, \`tasks\`, \`deliveries\`, \`providers\`, \`usage\`, \`gateways\` and \`verification\`.
  - \`row\` is a new or changed row as its list shows it. Only users who see it in the list get it.
  - \`changed\` names a topic without rows that has changed: read it again. Only users who may read the topic get it.
  - \`skipped\` replaces the rows of a second with more than 20, and has their number.
  - After a break a stream resumes by \`Last-Event-ID\`, up to 1,000 rows. Beyond that \`reset\` says to read the lists again.
  - Streams cost one query a second for all readers, and none without readers. \`gateways\` and \`verification\` add a small query.
  - Rights are checked again when a member is changed or removed, and every minute.
- Lists are newest first, over all workspaces you see, with \`from\` (inclusive) and \`to\` (exclusive). A page costs the
  same however long the log is, except with rare filters. These scan the log; set \`from\`.
- Costs of \`/usage\` are the charges of the ledger within the period, so they add up to it to the last nano-dollar. A
  call counts when it was charged; free calls count at their start time. Model, provider and tokens come from the
  request log: if a crash lost a row, its cost has a null model.
- \`/usage\` has every count that is charged, so that you can compare it with a vendor's invoice. Beside tokens, images and seconds
  these are cache writes (those for an hour separately), audio, input images, searches and the vendor's own image tool.
  Refusals that [Anthropic does not bill](models.md#prices) are in the counts too; in the log these calls have \`usage.unbilled\`.
  [The OpenAPI document](openapi.json) says which count is part of another. In whole hours from before a count was introduced, it is 0.
- \`/usage\` groups by \`model\`, \`key\` (with \`key_name\`), \`provider\`, \`member\` (with \`member_email\`), \`workspace\` (with \`workspace_name\`), \`protocol\`, \`status\` or
  \`error_code\`. It filters by \`workspace_id\`, \`key_id\`, \`member_id\`, \`model\`, \`provider\`, \`protocol\` and \`status\`.
  \`top=4\` gives the four most expensive groups of the whole period, and one row with \`other: true\` for the rest. Cost without
  a log row stays a row of its own, with a null name.
- \`/usage?also_by=model,key\` sums the same calls by these groups too. \`also\` has the rows of each: requests, errors, input and
  output tokens, and cost. All are from one moment, and cost less than separate requests. \`top\` applies to each. A group
  with more than 10,000 rows is cut, and has \`has_more: true\`.
- \`/usage\`, \`/requests\` and \`/workspaces/{id}/ledger\` answer with CSV to \`Accept: text/csv\`: the same rows for the same
  readers, up to 100,000 rows. \`from\` and \`to\` are required. Text that a spreadsheet could take for a formula gets an
  apostrophe before it, also after a \`;\`, a \`|\` or a tab within a cell. If the file was cut, its last line says where.
- \`reference\` of a credit is \`credit:\` and its \`Idempotency-Key\` (\`--reference\`). The ledger's filter takes either.
- The ledger filters by \`kind\`, \`key_id\`, \`member_id\`, \`reference\`, \`from\` and \`to\`. A page scans at most 50,000 entries,
  so with a rare filter it may be short although \`has_more\` is true.
- Days and months are in UTC. For up to 31 days, two parameters select another time zone:
  - \`time_zone=Europe/Berlin\`: days of that place. A day on which clocks change has 23 or 25 hours.
  - \`tz_offset=2\`: days of a place that is always two hours ahead.
- In some zones days begin within an hour of UTC (\`Asia/Kolkata\`). The sums by hour cannot show that, so these hours are read
  from the ledger and the log. If their [calls are gone](data.md#growth) from the log, an hour cannot be divided. Then
  neighbouring days share it, and their totals exceed the total of the period.
- \`duration\` and \`first_token\` have \`p50\` and \`p95\` in milliseconds, within 12 %. They come from
  counters, each a quarter wider than the one before. Calls of more than 21 minutes count as 24 minutes.
- Usage is read from sums by hour and by day. Newer calls are added from the ledger and the log. So
  an answer is current, and costs the same however long the log is. \`npx tollgate verify\` compares the sums with the
  ledger.
- Only organization admins see the addresses of providers, the operator's accounts there, upstream names of models, and upstream error
  messages. Kept bodies are an exception: \`sent\` has the upstream name.


## Rights

The table says how far a right reaches: **own** (what you made, or what is about you), **workspace** (everything in workspaces
where you have the role), or **all**. A person without any role, such as a removed member, keeps only their tokens and sessions.

| right | organization admin | workspace admin | member |
| --- | --- | --- | --- |
${(Object.keys(rights) as Action[]).map(row).join("\n")}

**Spend caps.** Only an organization admin may set those of a workspace, and the workspace must belong to an organization. A key's
owner may lower its caps. Raising or clearing one, or making a hard one soft, requires a workspace admin.

**Rate limits, model allowlist and expiry of a key.** If an admin set a value last, it binds the owner. Within it the owner may set,
tighten and loosen their own values. To exceed it requires an admin; the error 403 \`insufficient_permissions\` names the field. If an
admin cleared a value, or never set one, the owner decides. For keys from before version 0020
of the database it is not recorded who set a value, so the values of that time bind the owner.

**Disabled keys.** Only an admin may enable a key that an admin disabled (403 \`insufficient_permissions\`). The key shows it as
\`disabled_by_admin\`. The owner may enable a key that the owner disabled.

**Keys for others.** \`POST /keys\` with \`user_id\` makes a key for another member, who must be active. Without it the key is yours. The
member is its owner (\`created_by\`): the key is in their list, their caps apply, and its spend and usage are theirs. The audit log
names who made it. \`npx tollgate keys create --name ci --user ada@example.com\` does the same.

\`GET /keys\` takes \`q\`: part of a name, the last four characters, or the id. \`sort\` is \`name\`, \`used\` (last used
first), \`spend\` (of this month) or \`cap\` (nearest to a cap first).

\`POST /routing/preview {key_id, model}\` answers which providers a call would go to now, in which order, and why.
\`routing\`, \`model_allowlist\` and \`allow_request_override\` in it replace those of the key; nothing is saved.
\`refused\` is the error that such a call would get. Previews exist for text and embedding models.

\`POST /keys/{id}/temporary {ttl_s}\` makes a temporary value of a key, for a page in a browser. It works for up to 900 seconds. The
caller needs the right to reveal the key. The value begins with \`gw_temp_\`, is signed, and is stored nowhere. Scope,
caps, limits, log and bill are the key's. It ends at \`expires_at\`, by the clock of the database. Disabling, revoking or expiry of
the key ends it at once. After a rotation it works as long as the old value does. The
audit log has an entry for each (\`key.temporary\`).
`;
}
