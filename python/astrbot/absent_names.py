"""Names that modules of AstrBot 4.27.4 hold and this host does not: a module, its classes, its functions
`f()`, its constants `c=`; lines that begin with spaces go on."""

NAMES = """
core.agent.context.compressor ContextCompressor TruncateByTurnsCompressor LLMSummaryCompressor
core.agent.context.config ContextConfig
core.agent.context.manager ContextManager
core.agent.context.round_utils RoundSegment= split_into_rounds() rounds_to_text()
core.agent.context.token_counter TokenCounter IMAGE_TOKEN_ESTIMATE= AUDIO_TOKEN_ESTIMATE=
    EstimateTokenCounter
core.agent.context.truncator ContextTruncator
core.agent.mcp_client validate_mcp_stdio_config() MCPClient MCPTool
core.agent.tool_image_cache CachedImage ToolImageCache
core.astr_agent_run_util AgentRunner= run_agent() run_live_agent()
core.astr_main_agent LLM_ERROR_MESSAGE_EXTRA_KEY= WEEKDAY_NAMES= WEB_SEARCH_CITATION_TOOL_NAMES=
    WEB_SEARCH_CITATION_PROMPT= MainAgentBuildConfig MainAgentBuildResult build_main_agent()
core.astr_main_agent_resources LLM_SAFETY_MODE_SYSTEM_PROMPT= SANDBOX_MODE_PROMPT= TOOL_CALL_PROMPT=
    TOOL_CALL_PROMPT_SKILLS_LIKE_MODE= CHATUI_SPECIAL_DEFAULT_PERSONA_PROMPT=
    CHATUI_INLINE_GENUI_SYSTEM_PROMPT= LIVE_MODE_SYSTEM_PROMPT= PROACTIVE_AGENT_CRON_WOKE_SYSTEM_PROMPT=
    BACKGROUND_TASK_RESULT_WOKE_SYSTEM_PROMPT= BLOCKED=
core.computer.booters.base ComputerBooter
core.computer.booters.bay_manager BAY_IMAGE= BAY_CONTAINER_NAME= BAY_LABEL= BAY_PORT= HEALTH_TIMEOUT_S=
    HEALTH_POLL_INTERVAL_S= BayContainerManager
core.computer.booters.boxlite MockShipyardSandboxClient BoxliteBooter
core.computer.booters.cua build_cua_booter_kwargs() ProcessResult CuaShellComponent CuaPythonComponent
    CuaFileSystemComponent CuaGUIComponent CuaBooter
core.computer.booters.cua_defaults CUA_DEFAULT_CONFIG= CUA_CONFIG_KEYS=
core.computer.booters.local resolve_windows_shell() LocalShellComponent LocalPythonComponent
    LocalFileSystemComponent LocalBooter
core.computer.booters.shell_background build_detached_shell_command()
core.computer.booters.shipyard ShipyardShellWrapper ShipyardFileSystemWrapper ShipyardBooter
core.computer.booters.shipyard_neo NeoPythonComponent NeoShellComponent NeoFileSystemComponent
    NeoBrowserComponent ShipyardNeoBooter
core.computer.booters.shipyard_search_file_util build_search_command() search_files_via_shell()
core.computer.computer_client get_booter() sync_skills_to_active_sandboxes() get_local_booter()
    shutdown_local_booter()
core.computer.file_read_utils FileProbe ParsedDocument detect_text_encoding() read_local_text_range_sync()
    read_local_text_range() read_file_tool_result()
core.computer.olayer PythonComponent ShellComponent FileSystemComponent BrowserComponent GUIComponent
core.computer.olayer.browser BrowserComponent
core.computer.olayer.filesystem FileSystemComponent
core.computer.olayer.gui GUIComponent
core.computer.olayer.python PythonComponent
core.computer.olayer.shell ShellComponent
core.core_lifecycle AstrBotCoreLifecycle
core.cron.events CronMessageEvent
core.db.sqlite TxResult= CRON_FIELD_NOT_SET= SQLiteDatabase
core.event_bus EventBus
core.knowledge_base.chunking BaseChunker FixedSizeChunker MarkdownChunker
core.knowledge_base.chunking.base BaseChunker
core.knowledge_base.chunking.fixed_size FixedSizeChunker
core.knowledge_base.chunking.markdown MarkdownChunker
core.knowledge_base.chunking.recursive RecursiveCharacterChunker
core.knowledge_base.kb_db_sqlite KBSQLiteDatabase
core.knowledge_base.parsers BaseParser EpubParser MediaItem PDFParser ParseResult TextParser
core.knowledge_base.parsers.base MediaItem ParseResult BaseParser
core.knowledge_base.parsers.epub_parser EpubParser
core.knowledge_base.parsers.markitdown_parser MarkitdownParser
core.knowledge_base.parsers.pdf_parser PDFParser
core.knowledge_base.parsers.text_parser TextParser
core.knowledge_base.parsers.url_parser URLExtractor extract_text_from_url()
core.knowledge_base.parsers.util select_parser()
core.knowledge_base.prompts TEXT_REPAIR_SYSTEM_PROMPT=
core.knowledge_base.retrieval.manager RetrievalResult RetrievalManager
core.knowledge_base.retrieval.rank_fusion FusedResult RankFusion
core.knowledge_base.retrieval.sparse_retriever SparseResult SparseRetriever
core.persona_error_reply PERSONA_CUSTOM_ERROR_MESSAGE_EXTRA_KEY= normalize_persona_custom_error_message()
    extract_persona_custom_error_message_from_persona() extract_persona_custom_error_message_from_event()
    set_persona_custom_error_message_on_event() resolve_persona_custom_error_message()
    resolve_event_conversation_persona_id()
core.pipeline ContentSafetyCheckStage EventResultType MessageEventResult PreProcessStage ProcessStage
    RateLimitStage RespondStage ResultDecorateStage SessionStatusCheckStage STAGES_ORDER WakingCheckStage
    WhitelistCheckStage
core.pipeline.bootstrap ensure_builtin_stages_registered()
core.pipeline.content_safety_check.stage ContentSafetyCheckStage
core.pipeline.content_safety_check.strategies ContentSafetyStrategy
core.pipeline.content_safety_check.strategies.baidu_aip BaiduAipStrategy
core.pipeline.content_safety_check.strategies.keywords KeywordsStrategy
core.pipeline.content_safety_check.strategies.strategy StrategySelector
core.pipeline.context PipelineContext
core.pipeline.preprocess_stage.stage PreProcessStage
core.pipeline.process_stage.follow_up FollowUpCapture register_active_runner() unregister_active_runner()
    try_capture_follow_up() prepare_follow_up_capture() finalize_follow_up_capture()
core.pipeline.process_stage.method.agent_request AgentRequestSubStage
core.pipeline.process_stage.method.agent_sub_stages.internal InternalAgentSubStage BLOCKED=
core.pipeline.process_stage.method.agent_sub_stages.third_party AGENT_RUNNER_TYPE_KEY=
    THIRD_PARTY_RUNNER_ERROR_EXTRA_KEY= STREAM_CONSUMPTION_CLOSE_TIMEOUT_SEC=
    RUNNER_NO_RESULT_FALLBACK_MESSAGE= RUNNER_NO_FINAL_RESPONSE_LOG= RUNNER_NO_RESULT_LOG=
    run_third_party_agent() ThirdPartyAgentSubStage
core.pipeline.process_stage.method.star_request StarRequestSubStage
core.pipeline.process_stage.stage ProcessStage
core.pipeline.rate_limit_check.stage RateLimitStage
core.pipeline.respond.stage RespondStage
core.pipeline.result_decorate.stage ResultDecorateStage
core.pipeline.scheduler PipelineScheduler
core.pipeline.session_status_check.stage SessionStatusCheckStage
core.pipeline.stage register_stage() Stage
core.pipeline.stage_order STAGES_ORDER=
core.pipeline.waking_check.stage UNIQUE_SESSION_ID_BUILDERS= build_unique_session_id() WakingCheckStage
core.pipeline.whitelist_check.stage WhitelistCheckStage
core.platform.sources.dingtalk.dingtalk_adapter DINGTALK_RECONNECT_INITIAL_DELAY=
    DINGTALK_RECONNECT_MAX_DELAY= DINGTALK_RECONNECT_STABLE_SECONDS= MyEventHandler DingtalkPlatformAdapter
core.platform.sources.dingtalk.dingtalk_event DingtalkMessageEvent
core.platform.sources.discord.client DiscordBotClient
core.platform.sources.discord.components DiscordEmbed DiscordButton DiscordReference DiscordView
core.platform.sources.discord.discord_platform_adapter DiscordPlatformAdapter
core.platform.sources.discord.discord_platform_event DiscordViewComponent DiscordPlatformEvent
core.platform.sources.kook.kook_adapter KOOK_AT_SELECTOR_REGEX= AT_MENTION_PREFIX_REGEX= KookPlatformAdapter
core.platform.sources.kook.kook_client KookClient
core.platform.sources.kook.kook_config KookConfig
core.platform.sources.kook.kook_event KookEvent
core.platform.sources.kook.kook_roles_record USER_VIEW_REQUEST_TIMEOUT= ROLES_CACHE_MAX_SIZE=
    MAX_RETRY_TIMES= RETRY_INTERVAL_SECOND= RolesCache KookRolesRecord
core.platform.sources.lark.lark_adapter LarkPlatformAdapter
core.platform.sources.lark.lark_event LarkMessageEvent
core.platform.sources.line.line_adapter LINE_CONFIG_METADATA= LINE_I18N_RESOURCES= LinePlatformAdapter
core.platform.sources.line.line_api LineAPIClient
core.platform.sources.line.line_event LineMessageEvent
core.platform.sources.mattermost
core.platform.sources.mattermost.client MattermostClient
core.platform.sources.mattermost.mattermost_adapter MattermostPlatformAdapter
core.platform.sources.mattermost.mattermost_event MattermostMessageEvent
core.platform.sources.misskey.misskey_adapter MAX_FILE_UPLOAD_COUNT= DEFAULT_UPLOAD_CONCURRENCY=
    MisskeyPlatformAdapter
core.platform.sources.misskey.misskey_api API_MAX_RETRIES= HTTP_OK= APIError APIConnectionError
    APIRateLimitError AuthenticationError WebSocketError StreamingClient retry_async() MisskeyAPI
core.platform.sources.misskey.misskey_event MisskeyPlatformEvent
core.platform.sources.qqofficial.qqofficial_message_event APIReturnNoneError QQOfficialMessageEvent
core.platform.sources.qqofficial.qqofficial_platform_adapter PatchedMessage PatchedDirectMessage
    PatchedC2CMessage PatchedGroupMessage ManagedBotWebSocket botClient QQOfficialPlatformAdapter
core.platform.sources.qqofficial_webhook.qo_webhook_adapter botClient QQOfficialWebhookPlatformAdapter
core.platform.sources.qqofficial_webhook.qo_webhook_event QQOfficialWebhookMessageEvent
core.platform.sources.qqofficial_webhook.qo_webhook_server QQOfficialWebhook
core.platform.sources.satori.satori_adapter SatoriPlatformAdapter
core.platform.sources.satori.satori_event SatoriPlatformEvent
core.platform.sources.slack.client SlackWebhookClient SlackSocketClient
core.platform.sources.slack.slack_adapter SlackAdapter
core.platform.sources.slack.slack_event SlackMessageEvent
core.platform.sources.webchat.webchat_adapter QueueListener WebChatAdapter
core.platform.sources.webchat.webchat_event WebChatMessageEvent
core.platform.sources.wecom.wecom_adapter WecomServer WecomPlatformAdapter
core.platform.sources.wecom.wecom_event WecomPlatformEvent
core.platform.sources.wecom.wecom_kf WeChatKF
core.platform.sources.wecom.wecom_kf_message WeChatKFMessage
core.platform.sources.wecom_ai_bot WecomAIBotAPIClient WecomAIBotAdapter WecomAIBotConstants
    WecomAIBotMessageEvent WecomAIBotServer
core.platform.sources.wecom_ai_bot.wecomai_adapter WecomAIQueueListener WecomAIBotAdapter
core.platform.sources.wecom_ai_bot.wecomai_event WecomAIBotMessageEvent
core.platform.sources.weixin_oc.weixin_oc_adapter OpenClawLoginSession TypingSessionState
    WeixinOCRecentMessage WeixinOCRecentSessionCache WeixinOCReplyMeta WeixinOCAdapter
core.platform.sources.weixin_oc.weixin_oc_client WeixinOCClient
core.platform.sources.weixin_oc.weixin_oc_event WeixinOCMessageEvent
core.platform.sources.weixin_official_account.weixin_offacc_adapter WeixinOfficialAccountServer
    WeixinOfficialAccountPlatformAdapter
core.platform.sources.weixin_official_account.weixin_offacc_event WeixinOfficialAccountPlatformEvent
core.platform.webhook_server WebhookRequest webhook_response_from_result() FastAPIWebhookServer
core.provider.modalities ContextSanitizeStats sanitize_contexts_by_modalities() log_context_sanitize_stats()
core.skills SkillInfo SkillManager build_skills_prompt
core.skills.neo_skill_sync NeoSkillSyncResult NeoSkillSyncManager
core.skills.skill_manager SKILLS_CONFIG_FILENAME= SANDBOX_SKILLS_CACHE_FILENAME= DEFAULT_SKILLS_CONFIG=
    SANDBOX_SKILLS_ROOT= SANDBOX_WORKSPACE_ROOT= WORKSPACE_SKILLS_ROOT=
    WORKSPACE_SKILL_FRONTMATTER_MAX_CHARS= SkillInfo build_skills_prompt() SkillManager
core.star.command_management CommandDescriptor sync_command_configs() toggle_command() rename_command()
    update_command_permission() list_commands() list_command_conflicts()
core.star.error_messages PLUGIN_ERROR_TEMPLATES= format_plugin_error()
core.star.session_llm_manager SessionServiceManager
core.star.session_plugin_manager SessionPluginManager
core.star.updater PLUGIN_METADATA_FILENAMES= PLUGIN_METADATA_REQUIRED_FIELDS= PLUGIN_METADATA_MAX_BYTES=
    PLUGIN_REPOSITORY_TIMEOUT_SECONDS= PLUGIN_GIT_CLONE_TIMEOUT_SECONDS=
core.tools.computer_tools AnnotateExecutionTool BrowserBatchExecTool BrowserExecTool
    CreateSkillCandidateTool CreateSkillPayloadTool CuaKeyboardTypeTool CuaMouseClickTool CuaScreenshotTool
    EvaluateSkillCandidateTool ExecuteShellTool FileDownloadTool FileEditTool FileReadTool FileUploadTool
    FileWriteTool GetExecutionHistoryTool GetSkillPayloadTool GrepTool ListSkillCandidatesTool
    ListSkillReleasesTool LocalExecuteShellTool LocalPythonTool PromoteSkillCandidateTool PythonTool
    RollbackSkillReleaseTool RunBrowserSkillTool ShellSessionTool SyncSkillReleaseTool
    normalize_umo_for_workspace check_admin_permission
core.tools.computer_tools.cua CuaScreenshotTool CuaMouseClickTool CuaKeyboardTypeTool
core.tools.computer_tools.fs get_astrbot_workspaces_path() FileReadTool FileWriteTool FileEditTool GrepTool
    FileUploadTool FileDownloadTool
core.tools.computer_tools.python handle_result() PythonTool LocalPythonTool
core.tools.computer_tools.shell ExecuteShellTool LocalExecuteShellTool ShellSessionTool
core.tools.computer_tools.shipyard_neo AnnotateExecutionTool BrowserBatchExecTool BrowserExecTool
    CreateSkillCandidateTool CreateSkillPayloadTool EvaluateSkillCandidateTool GetExecutionHistoryTool
    GetSkillPayloadTool ListSkillCandidatesTool ListSkillReleasesTool PromoteSkillCandidateTool
    RollbackSkillReleaseTool RunBrowserSkillTool SyncSkillReleaseTool
core.tools.computer_tools.shipyard_neo.browser BrowserExecTool BrowserBatchExecTool RunBrowserSkillTool
core.tools.computer_tools.shipyard_neo.neo_skills NeoSkillToolBase GetExecutionHistoryTool
    AnnotateExecutionTool CreateSkillPayloadTool GetSkillPayloadTool CreateSkillCandidateTool
    ListSkillCandidatesTool EvaluateSkillCandidateTool PromoteSkillCandidateTool ListSkillReleasesTool
    RollbackSkillReleaseTool SyncSkillReleaseTool
core.tools.computer_tools.util workspace_root() workspace_root_for_context() is_local_runtime()
    check_admin_permission()
core.tools.cron_tools FutureTaskTool
core.tools.knowledge_base_tools check_all_kb() retrieve_knowledge_base() KnowledgeBaseQueryTool
core.tools.message_tools SendMessageToUserTool GetGroupMessageHistoryTool
core.tools.registry BuiltinToolConfigCondition BuiltinToolConfigRule builtin_tool()
    ensure_builtin_tools_loaded() get_builtin_tool_class() get_builtin_tool_name()
    iter_builtin_tool_classes() get_builtin_tool_config_rule() get_builtin_tool_config_statuses()
    get_builtin_tool_config_tags()
core.tools.web_search_tools WEB_SEARCH_TOOL_NAMES= SearchResult normalize_legacy_web_search_config()
    TavilyWebSearchTool TavilyExtractWebPageTool BochaWebSearchTool BraveWebSearchTool
    FirecrawlWebSearchTool FirecrawlExtractWebPageTool BaiduWebSearchTool ExaWebSearchTool
    ExaGetContentsTool
core.umo_alias MAX_UMO_NAME_LENGTH= normalize_umo_name() parse_umo() get_event_auto_name()
    get_umo_display_name() serialize_umo_alias() build_umo_alias_map()
core.umop_config_router UmopConfigRouter
core.utils.error_redaction redact_sensitive_text() safe_error()
core.utils.file_extract extract_file_moonshotai()
core.utils.history_saver persist_agent_history()
core.utils.http_ssl build_ssl_context_with_certifi() build_tls_connector()
core.utils.image_ref_utils ALLOWED_IMAGE_EXTENSIONS= resolve_file_url_path() is_supported_image_ref()
core.utils.llm_metadata LLMModalities LLMLimit LLMMetadata LLM_METADATAS= LLM_METADATA_URLS=
    update_llm_metadata()
core.utils.media_utils IMAGE_COMPRESS_DEFAULT_MAX_SIZE= IMAGE_COMPRESS_DEFAULT_QUALITY=
    IMAGE_COMPRESS_DEFAULT_OPTIMIZE= IMAGE_COMPRESS_DEFAULT_MIN_FILE_SIZE_MB= MEDIA_MIME_EXTENSIONS=
    IMAGE_FORMAT_MIME_TYPES= AUDIO_FORMAT_MIME_TYPES= DEFAULT_MEDIA_SUFFIXES= MediaRefStr= ResolvedMediaData
    ResolvedMediaFile is_file_uri() file_uri_to_path() describe_media_ref() detect_image_mime_type()
    detect_image_mime_type_async() MediaResolver resolve_image_ref_to_base64_data()
    resolve_audio_ref_to_base64_data() resolve_media_ref_to_base64_data() get_media_duration()
    convert_audio_to_opus() convert_video_format() convert_audio_format() convert_audio_to_amr()
    convert_audio_to_wav() ensure_wav() ensure_jpeg() extract_video_cover() compress_image()
core.utils.network_utils is_connection_error() log_connection_failure() create_proxy_client()
core.utils.path_util path_Mapping()
core.utils.quoted_message extract_quoted_message_text extract_quoted_message_images
core.utils.quoted_message.chain_parser ParsedOneBotPayload ReplyChainParser OneBotPayloadParser
core.utils.quoted_message.extractor QuotedMessageContent QuotedMessageExtractor
    extract_quoted_message_text() extract_quoted_message_images()
core.utils.quoted_message.image_refs IMAGE_EXTENSIONS= normalize_file_like_url()
    looks_like_image_file_name() convert_data_image_to_base64_ref() get_existing_local_path()
    normalize_image_ref()
core.utils.quoted_message.image_resolver ImageResolver
core.utils.quoted_message.onebot_client CallAction OneBotClient
core.utils.quoted_message.settings QuotedMessageParserSettings SETTINGS=
core.utils.quoted_message_parser extract_quoted_message_text extract_quoted_message_images
core.utils.requirements_utils RequirementsPrecheckFailed ParsedPackageInput MissingRequirementsAnalysis
    MissingRequirementsPlan canonicalize_distribution_name() strip_inline_requirement_comment()
    looks_like_direct_reference() extract_requirement_name() parse_package_install_input()
    iter_requirements() extract_requirement_names() get_requirement_check_paths()
    collect_installed_distribution_versions() find_missing_requirements()
    find_missing_requirements_from_lines() classify_missing_requirements_from_lines()
    build_missing_requirements_install_lines() plan_missing_requirements_install()
    find_missing_requirements_or_raise()
core.utils.runtime_env is_frozen_runtime() is_packaged_desktop_runtime()
core.utils.string_utils normalize_and_dedupe_strings()
core.utils.t2i.local_strategy FontManager TextMeasurer MarkdownElement TextElement BoldTextElement
    ItalicTextElement UnderlineTextElement StrikethroughTextElement HeaderElement QuoteElement
    ListItemElement CodeBlockElement InlineCodeElement ImageElement MarkdownParser MarkdownRenderer
    LocalRenderStrategy
core.utils.t2i.network_strategy ASTRBOT_T2I_DEFAULT_ENDPOINT= SHIKI_RUNTIME_SCRIPT_ID=
    SHIKI_RUNTIME_TEMPLATE_PATTERN= JINJA_SYNTAX_PATTERN= JINJA_RAW_OPEN_PATTERN= JINJA_RAW_CLOSE_PATTERN=
    get_shiki_runtime() inject_shiki_runtime() NetworkRenderStrategy
core.utils.t2i.template_manager validate_template_content() TemplateManager
core.utils.tencent_record_helper tencent_silk_to_wav() wav_to_tencent_silk() convert_to_pcm_wav()
core.utils.webhook_utils log_webhook_info() ensure_platform_webhook_config()
core.workspace WORKSPACE_TYPE_SESSION= WORKSPACE_TYPE_PROJECT= WORKSPACE_TYPE_CUSTOM=
    API_KEY_USERNAME_PREFIX= WORKSPACE_TYPES= normalize_umo_for_workspace()
    normalize_project_workspace_type() normalize_workspace_path() default_workspace_root()
    project_workspace_root() workspace_path_to_root() resolve_project_workspace_root() parse_webchat_umo()
    resolve_workspace_root_for_umo()
"""
