"""What plugins match on, letter by letter as Nekro Agent 2.4.0 has it. What is a sentence of ours lies in `texts`."""

AGENT_MARK = " - **[AGENT METHOD - STOP AFTER CALL]**"
FOR_SUPER_USERS = "此命令仅限超级用户使用"
