"""ralph reads the prompt anew for each turn, with the rights of its user. An agent in a sandbox that puts a link in the place of the
file would be told what it must not see."""
import pytest

from sandbox_support import NEEDS_SANDBOX
from task_support import Tasks

pytestmark = NEEDS_SANDBOX
SECRET = "words of a private key"

LINKS = {
    "the file": ("PROMPT.md", "ln -sf {secret} PROMPT.md"),
    "a folder on the way": ("prompts/key", "mv prompts gone; ln -s {folder} prompts"),
    "by way of another link": ("PROMPT.md", "ln -s {folder} way; ln -sf way/key PROMPT.md"),
    "by way of /proc": ("PROMPT.md", "ln -sf /proc/self/root{secret} PROMPT.md"),
}


def secret_of(project):
    folder = project.home / ".keys"
    folder.mkdir()
    (folder / "key").write_text(SECRET)
    return folder / "key"


@pytest.mark.parametrize("link", LINKS)
def test_the_prompt_of_a_run(someone, link):
    name, plant = LINKS[link]
    secret = secret_of(someone)
    (someone.path / name).parent.mkdir(exist_ok=True)
    (someone.path / name).write_text("the prompt")
    someone.agent_script(f"echo \"$1\" > told-$RALPH_ITERATION; {plant.format(secret=secret, folder=secret.parent)}; echo working")
    result = someone.run("run", "--sandbox", "-f", name, "-n", "3")
    assert result.code == 2 and "outside of" in result.err and "an agent in a sandbox could have made that link" in result.err, result
    told = [path.read_text() for path in someone.path.glob("told-*")] + [path.read_text() for path in someone.ralph.rglob("*prompt*") if path.is_file()]
    assert all(SECRET not in text for text in told) and SECRET not in result.text
    again = someone.run("run", "--sandbox", "-f", name, "-n", "1")  # the link is still there
    assert again.code == 2 and "outside of" in again.err and SECRET not in again.text, again
    assert someone.run("run", "--sandbox", "-f", name, "--dry-run").code == 2


def test_a_link_within_the_project_and_a_file_outside_are_the_users_own(someone):
    (someone.path / "prompts").mkdir()
    (someone.path / "prompts/a.md").write_text("within")
    (someone.path / "PROMPT.md").symlink_to("prompts/a.md")
    (someone.base / "outside.md").write_text("outside")
    (someone.base / "link.md").symlink_to("outside.md")
    someone.agent_script('echo "<response>DONE</response>"')
    for path in ("PROMPT.md", "../outside.md", "../link.md"):
        result = someone.run("run", "--sandbox", "-f", path)
        assert result.code == 0, (path, result)


@pytest.mark.parametrize("where", ["TASK.md", "a prompt file"])
def test_the_prompt_of_a_task(someone, where):
    secret = secret_of(someone)
    tasks = Tasks(someone)
    (someone.path / "todo.md").write_text("the prompt")
    options = ["--prompt-file", "todo.md"] if where == "a prompt file" else []
    path = '"$TASK_FOLDER/TASK.md"' if where == "TASK.md" else "todo.md"
    if where == "TASK.md":
        tasks.folder().mkdir(parents=True)
        (tasks.folder() / "TASK.md").write_text("the prompt")
    result = tasks.run(f'echo "$0" > told; ln -sf {secret} {path}', "--sandbox", "--max-restarts", "3", "--restart-delay", "10ms", *options)
    assert result.code == 2 and "outside of" in result.err, result
    assert (someone.path / "told").read_text() == "the prompt\n"
    assert SECRET not in result.text
    for file in tasks.folder().rglob("prompt.md"):
        assert SECRET not in file.read_text()
