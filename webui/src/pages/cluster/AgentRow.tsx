// One agent: what it is, its slots as squares, and the menu that enables and disables it.
import { Ellipsis } from "lucide-react";
import { call } from "../../api/client";
import { useSession } from "../../api/session";
import { useAct } from "../../api/useApi";
import { cx } from "../../ui/cx";
import { dateTime, duration, plural, secondsBetween } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { StatePill } from "../../ui/StatePill";
import { useConfirm } from "../../ui/useConfirm";
import { Link } from "../../url";
import css from "./cluster.module.css";
import { type Agent, GLYPHS, type SlotView, withoutSlots } from "./slots";

export function AgentRow({ agent, slots }: { agent: Agent; slots: readonly SlotView[] }) {
  const { permissions } = useSession();
  const aux = withoutSlots(agent);
  return (
    <section className={css["agent"]} aria-label={`Agent ${agent.id}`}>
      <div className={css["agentHead"]}>
        <strong className={css["agentName"]}>{agent.id}</strong>
        {agent.enabled === false && <StatePill state="PAUSED" word={agent.draining ? "Draining" : "Disabled"} />}
        <span className={css["muted"]}>
          {(agent.resourcePools ?? []).join(", ")}
          {agent.registeredTime && (
            <>
              {" · "}
              <span title={dateTime(agent.registeredTime)}>
                up {duration(secondsBetween(agent.registeredTime, null))}
              </span>
            </>
          )}
          {aux > 0 && ` · ${plural(aux, "task")} without slots`}
        </span>
        {permissions.admin && (
          <AgentMenu agent={agent} busy={slots.filter((slot) => slot.href !== null).length + aux} />
        )}
      </div>
      {slots.length === 0 && <p className={css["muted"]}>No slots: it runs tasks that need none.</p>}
      <ul className={css["slots"]} aria-label={`Slots of ${agent.id}`}>
        {slots.map((slot) => (
          <li key={slot.id}>
            <Square slot={slot} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Square({ slot }: { slot: SlotView }) {
  const square = (
    <span className={cx(css["square"], css[slot.kind])} title={slot.words}>
      <span aria-hidden="true">{GLYPHS[slot.kind]}</span>
      <span className="visually-hidden">{slot.words}</span>
    </span>
  );
  if (slot.href === null) return square;
  return (
    <Link href={slot.href} className={css["slotLink"]}>
      {square}
    </Link>
  );
}

function AgentMenu({ agent, busy }: { agent: Agent; busy: number }) {
  const act = useAct();
  const { confirm } = useConfirm();
  const path = { agent_id: agent.id };
  const enable = () => call("enableAgent", { path });
  const disable = (drain: boolean) => call("disableAgent", { path, body: { drain } });
  const disableNow = async () => {
    const isSure =
      busy === 0 ||
      (await confirm({
        title: `Disable ${agent.id} now?`,
        text: `${plural(busy, "task")} on it end at once. Trials go on elsewhere from their latest checkpoint.`,
        verb: "Disable",
        isDanger: true,
      }));
    if (isSure) await act({ label: `Disabled ${agent.id}`, run: () => disable(false), undo: enable });
  };
  const isEnabled = agent.enabled !== false;
  const items = isEnabled
    ? [
        {
          id: "drain",
          label: "Disable after what runs has ended",
          onAction: () => void act({ label: `${agent.id} takes nothing new`, run: () => disable(true), undo: enable }),
        },
        { id: "now", label: "Disable now…", danger: true, onAction: () => void disableNow() },
      ]
    : [
        {
          id: "enable",
          label: "Enable",
          onAction: () => void act({ label: `Enabled ${agent.id}`, run: enable, undo: () => disable(true) }),
        },
      ];
  return <Menu label={`Actions of ${agent.id}`} icon={<Ellipsis size={16} aria-hidden="true" />} items={items} />;
}
