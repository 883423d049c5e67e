// The words of the pages that are still to come.
export interface Coming {
  title: string;
  /** What the page will be. */
  will: string;
  /** How the same is done today. */
  today: string;
  commands: readonly string[];
  link?: { href: string; label: string } | undefined;
}

export const COMING: Record<string, Coming> = {
  policies: {
    title: "Config policies",
    will: "Limits and fixed fields for the configurations of a workspace or of the whole cluster.",
    today: "Until then an administrator sets the defaults of the cluster in the configuration of the master:",
    commands: ["det master config show"],
  },
  admin: {
    title: "Administration",
    will: "Users and groups: create, deactivate, link to accounts of the machines.",
    today: "Until then an administrator does this in a terminal:",
    commands: [
      "det user list",
      "det user create NAME",
      "det user deactivate NAME",
      "det user link-with-agent-user NAME",
    ],
  },
  members: {
    title: "Members",
    will: "Who may do what in a workspace.",
    today: "Until then every user may use every workspace, and its owner and administrators change it:",
    commands: ["det workspace describe NAME", "det user list"],
    link: { href: "/workspaces", label: "Workspaces" },
  },
};
