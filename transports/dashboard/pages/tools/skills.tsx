// Skills: what their files say, and what of that a person has approved.
import { useState } from 'preact/hooks';
import type { SkillView } from '../../../../core/types.ts';
import { tell } from '../../base/toast.ts';
import { useLoad } from '../../data/load.ts';
import { approveSkill, readSkill, readSkills } from '../../data/tools.ts';
import { Visible } from '../../parts/hidden.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Button, Problem } from '../../parts/widgets.tsx';
import { toolStateText, toolsText } from '../../text/index.ts';
import { Sides } from './list.tsx';

/** Nothing without any. */
export function Skills() {
  const { state, reload } = useLoad(readSkills, []);
  const { data, error } = state.value;
  if (error !== undefined) return <Problem error={error} />;
  if (data === undefined || data.length === 0) return null;
  return (
    <section class="tool-server" aria-label={toolsText.skills}>
      <h2>{toolsText.skills}</h2>
      <ul class="tool-list">
        {data.map((skill) => (
          <Skill key={`${skill.owner}/${skill.name}`} listed={skill} reload={reload} />
        ))}
      </ul>
    </section>
  );
}

interface SkillProps {
  readonly listed: SkillView;
  reload(): Promise<void>;
}

function Skill({ listed, reload }: SkillProps) {
  const { owner, name, state, description, problem } = listed;
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <div class="row wrap">
        <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name={isOpen ? 'chevron' : 'next'} small />
          <b class="b mono break">
            <Visible text={owner === '_' ? name : `${owner}/${name}`} />
          </b>
        </button>
        <span class={`chip ${state === 'approved' ? '' : 'warn'}`}>{toolStateText(state)}</span>
      </div>
      <p class={`sm break ${problem === undefined ? 't2' : 'warn'}`}>
        <Visible text={problem ?? description} />
      </p>
      {isOpen && <Texts listed={listed} reload={reload} />}
    </li>
  );
}

/** The files one below the other. What is approved is what stands here, by its hash. */
function Texts({ listed, reload }: SkillProps) {
  const { state } = useLoad(() => readSkill(listed), [listed]);
  const { data: skill, error } = state.value;
  const [failure, setFailure] = useState<unknown>();
  if (skill === undefined) return error === undefined ? null : <Problem error={error} />;
  const approve = async (): Promise<void> => {
    await approveSkill(skill).then(() => tell(toolsText.approved), setFailure);
    await reload();
  };
  return (
    <>
      <Sides was={skill.was && textOf(skill.was)} now={textOf(skill.now ?? {})} />
      {failure !== undefined && <Problem error={failure} />}
      {(skill.state === 'new' || skill.state === 'changed') && (
        <div class="row wrap">
          <Button label={toolsText.approve} run={approve} />
          <span class="sm t3 mono">{skill.hash.slice(0, 16)}</span>
        </div>
      )}
    </>
  );
}

function textOf(files: Readonly<Record<string, string>>): string {
  return Object.entries(files)
    .map(([path, text]) => `${path}\n\n${text}`)
    .join('\n');
}
