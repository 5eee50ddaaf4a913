/** The roles of a workspace. */

export type Role = "admin" | "member";

export const roleChoices = [
  { value: "member", label: "member: own keys, own calls" },
  { value: "admin", label: "admin: everything in the workspace" },
];
