// panel.ts - what the run was: identity, hashes, expectations, certificate, scenario.
import type { PageInfo } from "../data/embedded";
import type { Drone, Run } from "../data/run";
import { formatTime, formatUnit, make } from "./dom";

function makeFacts(rows: [string, string | undefined][]): HTMLElement {
  const list = make("dl", "facts");
  for (const [name, value] of rows) if (value !== undefined) list.append(make("dt", "", name), make("dd", "", value));
  return list;
}

function makeSection(title: string, ...children: (Node | string | undefined)[]): HTMLElement {
  return make("section", "panel-part", make("h3", "", title), ...children);
}

function thinnedText(run: Run): string | undefined {
  const { thinned } = run.info;
  const parts: string[] = [];
  if (thinned.truth > 1 || thinned.other > 1) {
    parts.push(`thinned to fit a page: every ${thinned.truth}. record of where drones are and every ${thinned.other}. of the rest, ${thinned.records} of ${thinned.total}; what is shown is as logged`);
  }
  if (thinned.events_left > 0) parts.push(`${thinned.events_left} further events are left out`);
  return parts.length > 0 ? parts.join("; ") : undefined;
}

function makeIdentity(run: Run): HTMLElement {
  const { info } = run;
  return makeSection(
    info.name || info.file,
    makeFacts([
      ["log", info.file],
      ["status", info.status],
      ["flown", `${formatTime((info.last_tick - info.first_tick) * info.dt)} s in ${info.last_tick - info.first_tick} steps of ${+(info.dt * 1e3).toPrecision(6)} ms`],
      ["drones", String(info.drones.length)],
      ["bodies", info.bodies?.length ? String(info.bodies.length) : undefined],
      ["seed", info.seed],
      ["configuration", info.config_hash],
      ["final hash", info.final_hash],
      ["branched", info.parent_hash && `from step ${info.parent_tick ?? 0} of a run that ended with ${info.parent_hash}`],
      ["written by", `Volery ${info.version}, physics revision ${info.physics}`],
      ["records", thinnedText(run)],
    ]),
  );
}

function makeExpectations(run: Run): HTMLElement | undefined {
  const verdicts = run.events.filter((event) => event.kind === "expectation");
  if (verdicts.length === 0) return undefined;
  const list = make("ul", "expectations");
  for (const event of verdicts) {
    const [kind, word] = /: not met,/.test(event.text) ? ["bad", "FAILED"] : /: skipped,/.test(event.text) ? ["", "skipped"] : ["good", "ok"];
    list.append(make("li", kind, make("b", "", word), make("span", "", event.text)));
  }
  return makeSection("expectations", list);
}

function makeCertificate(drone: Drone): HTMLElement | undefined {
  const c = drone.certificate;
  if (!c) return undefined;
  if (drone.run.info.strict) return makeSection("negligibility", "strict: every effect was computed");
  const table = make("table", "effects", make("tr", "", ...["effect", "", "impulse", "angular impulse"].map((text) => make("th", "", text))));
  for (const effect of c.effects) {
    const cells = [effect.name.replace(/_/g, " "), effect.computed ? "computed" : "neglected", formatUnit(effect.impulse, "N s"), formatUnit(effect.angular_impulse, "N m s")];
    table.append(make("tr", effect.computed ? "" : "dim", ...cells.map((text) => make("td", "", text))));
  }
  const bound = c.bounded ? `; at most ${formatUnit(c.position, "m")} within ${c.horizon} s` : "; no bound of the deviation is known in a closed loop";
  return makeSection(`negligibility: ${drone.name}`, make("p", "", `At most ${formatUnit(c.total_impulse, "N s")} and ${formatUnit(c.total_angular_impulse, "N m s")} were neglected${bound}. ${c.changes} decisions changed.${c.budget ? ` Budget: ${c.budget}.` : ""}`), table);
}

type Comparison = NonNullable<PageInfo["comparison"]>;

function comparisonText(comparison: Comparison): string {
  const d = comparison.difference;
  if (!d) return "The two runs are identical, step for step, as far as both go.";
  const field = d.field ? ` At step ${d.field_step ?? d.step}, ${d.field} is ${String(d.a)} in A and ${String(d.b)} in B.` : "";
  return `The runs part at step ${d.step} (${formatTime(d.time_s)} s).${field}`;
}

export function makePanel(runs: Run[], chosen: Drone[], comparison?: Comparison): HTMLElement {
  const panel = make("div", "panel");
  if (comparison) panel.append(makeSection("first difference", make("p", "difference", comparisonText(comparison))));
  runs.forEach((run, i) => {
    const part = makeIdentity(run);
    if (runs.length > 1) part.querySelector("h3")?.prepend(make("span", `run-mark run-${i}`, i === 0 ? "A" : "B"));
    panel.append(part);
    const rows = makeExpectations(run);
    if (rows) panel.append(rows);
  });
  for (const drone of chosen) {
    const part = makeCertificate(drone);
    if (part) panel.append(part);
  }
  runs.forEach((run, i) => {
    panel.append(makeSection(runs.length > 1 ? `scenario ${i === 0 ? "A" : "B"}` : "scenario, resolved", make("pre", "yaml", run.info.scenario)));
  });
  return panel;
}
