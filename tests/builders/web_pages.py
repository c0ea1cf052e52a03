"""Web pages as sites really serve them: with content, and placeholders for it."""

_STORY = "The old mill was built beside the river, and its wheel still turns on market days. " * 6
_LOGIN = (
    '<form method="post" action="/session"><label>{user}<input name="user"></label>'
    '<label>{word}<input type="password" name="pw"></label><button>{go}</button></form>'
)
FORM = _LOGIN.format(user="User name", word="Password", go="Sign in")


def page(title: str, body: str, *, head: str = "", heading: str | None = "") -> str:
    """A page whose heading is its title; None: without a heading."""
    h1 = "" if heading is None else f"<h1>{heading or title}</h1>"
    return (
        f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head>"
        f"<body><main>{h1}{body}</main></body></html>"
    )


def login(title: str, user: str, word: str, go: str, *, text: str = "") -> str:
    return page(title, text + _LOGIN.format(user=user, word=word, go=go))


CONTENT = {
    "glossary entry": page("API", "<p>Application programming interface.</p>"),
    "glossary of errors": page(
        "404 Not Found", "<p>The HTTP status code of a page that the server does not have.</p>"
    ),
    "what page not found means": page(
        "Page not found", "<p>What it means: the server cannot find the requested page.</p>"
    ),
    "article titled 404": page("404", f"<p>{_STORY}</p>"),
    "film titled Not Found": page("Not Found", "<p>Drama, 2021, 98 minutes. With A. Lee.</p>"),
    "novel titled Oops": page("Oops!", "<p>A picture book for children from three years.</p>"),
    "article about soft 404": page(
        "Soft 404 errors",
        f"<p>The page you requested could not be found, says the text.</p>{_STORY}",
    ),
    "lost and found": page("Lost and found", "<p>The item was not found? Ask at the desk.</p>"),
    "area code 404": page("404 area code", "<p>Atlanta, Georgia. In use since 1947.</p>"),
    "room 404": page("Room 404", "<p>Seats 12. Projector, whiteboard, no windows.</p>"),
    "login design": page(
        "Sign in", f"<p>How to design a sign-in page that people trust.</p><p>{_STORY}</p>{FORM}"
    ),
    "how to log in": page(
        "How to log in", "<p>Open the app, enter your user name and password, and press Go.</p>"
    ),
    "login help": page(
        "Login problems", "<p>If you cannot log in, reset your password or call us at 555-0100.</p>"
    ),
    "contact with login aside": page(
        "Contact",
        "<p>Write to us.</p><form><input name=email><textarea name=text></textarea>"
        f"<button>Send</button></form><aside>{FORM}</aside>",
    ),
    "contact with login below": page(
        "Contact", f"<p>Mill Lane 4, Bath. Open from 9 to 17.</p><div class=member>{FORM}</div>"
    ),
    "login in header": f"<body><header>{FORM}</header><h1>DNS</h1><p>Domain name system.",
    "forum post with login box": page("Oil pump drips", f"<p>Change the gasket.</p>{FORM}"),
    "password checker": page(
        "How strong is your password?",
        "<p>Type a password to see how long it takes to guess it.</p>"
        "<form><input type=password><button>Check</button></form>",
    ),
    "password policy": page("Password policy", "<p>Passwords have 12 characters or more.</p>"),
    "newsletter": page(
        "News", "<p>Spring sale.</p><form><input type=email><button>Sign up</button></form>"
    ),
    "connexion train": page("Connexion Paris-Lyon", "<p>Deux heures, toutes les heures.</p>"),
    "single sign-on product": page(
        "Single sign-on", "<p>One account for all tools. Works with SAML and OpenID Connect.</p>"
    ),
    "javascript tutorial": page(
        "Enable JavaScript",
        "<p>To enable JavaScript in Firefox, open about:config.</p><script>1</script>",
    ),
    "javascript glossary": page(
        "JavaScript",
        "<p>A language for web pages. JavaScript must be enabled in the browser.</p>"
        "<script src=a.js></script>",
    ),
    "server-side rendered app": (
        '<body><div id="__next"><h1>Pump</h1><p>Moves 12 litres a minute.</p></div>'
        '<script id="__NEXT_DATA__" type="application/json">{"a":1}</script><script src="n.js">'
    ),
    "content in noscript": (
        f'<body><div id="root"></div><noscript><h1>Mill</h1><p>{_STORY}</p></noscript>'
        '<script src="a.js"></script>'
    ),
    "widget root beside content": page(
        "Opening hours",
        '<p>Monday to Friday, 9 to 17.</p><div id="app"></div><script src=c.js></script>',
    ),
    "one line with analytics": "<body><p>It works!</p><script src='/stats.js'></script></body>",
    "short with noscript pixel": page(
        "Bus 12",
        "<p>Every ten minutes.</p><noscript><img src=p.gif></noscript><script src=a.js></script>",
    ),
    "noscript hint beside content": page(
        "Bus 13",
        "<noscript>Please enable JavaScript to see the map.</noscript><p>Every ten minutes.</p>"
        "<script src=a.js></script>",
    ),
    "custom element beside content": (
        "<body><h1>Tea</h1><x-cart></x-cart><p>Brew for three minutes.</p>"
        "<script src=c.js></script>"
    ),
    "loading dock": page(
        "Loading", "<p>Dock 4 is open for loading from 6 to 14.</p><script src=a.js></script>"
    ),
    "cookie policy": page(
        "Cookie policy", "<p>We use one cookie, for your basket. It is deleted after a day.</p>"
    ),
    "cookie recipe": page(
        "Cookies", "<p>Butter, sugar, flour. Bake for 12 minutes.</p><a href=/>Accept all</a>"
    ),
    "short page with banner": page(
        "Hours",
        "<p>Open from 9 to 17, Monday to Friday.</p>"
        '<div id="cookie-banner">We use cookies.<button>Accept all</button></div>',
    ),
    "privacy policy": page(
        "Privacy", f"<p>We keep personal data for a year. {_STORY}</p><button>OK</button>"
    ),
    "archive of a month": page("January 2024", "<ul><li>The mill reopens</li><li>Ducks</li></ul>"),
    "empty month": page("February 2024", "<p>No posts in this month.</p>"),
    "search without hits": page("Search", "<p>Nothing found for pump. Try another word.</p>"),
    "product no longer made": page(
        "Pump P1", "<p>This product is no longer available. See P2.</p>"
    ),
    "moved office": page(
        "We have moved", "<p>Our new address: Mill Lane 4. The old one is closed.</p>"
    ),
    "maintenance note": page("Maintenance", "<p>The site is read only on Sunday from 2 to 4.</p>"),
    "error reference": page(
        "Error 403", "<p>Error code of the pump: the valve is blocked. Clean it.</p>"
    ),
    "list of links": "<body><h1>Links</h1><ul><li><a href=/a>Mill</a><li><a href=/b>River</a></ul>",
    "german short page": page("Anfahrt", "<p>Mit der Linie 5 bis Marktplatz.</p>"),
    "german registration": page(
        "Anmeldung zum Kurs", "<p>Bitte melden Sie sich bis 1. Mai per Post an.</p>"
    ),
    "japanese short page": page("営業時間", "<p>平日9時から17時まで。</p>"),
    "slow refresh": page(
        "Live scores", "<p>1:0</p>", head='<meta http-equiv=refresh content="60">'
    ),
    "refresh of itself": page(
        "Queue", "<p>Number 12 is served.</p>", head='<meta http-equiv=refresh content="5; url=/x">'
    ),
    "logout after a while": page(
        "Account rules", f"<p>{_STORY}</p>", head='<meta http-equiv=refresh content="900;url=/out">'
    ),
    "script with a link": page(
        "Shop", f"<p>{_STORY}</p><script>function go() {{ location.href = '/cart'; }}</script>"
    ),
    "frame buster": page(
        "Tea", "<p>Hot.</p><script>if (top != self) top.location = '/tea';</script>"
    ),
}
"""Pages that must be kept, at the address `/x`."""

_NO_JS = "<noscript>You need to enable JavaScript to run this app.</noscript>"
LOGINS = {
    "english": login("Sign in", "User", "Password", "Sign in"),
    "with site name": login("Log in · Example Wiki", "Name", "Password", "Log in"),
    "german": login(
        "Anmelden",
        "Benutzername",
        "Passwort",
        "Anmelden",
        text="<p>Bitte melden Sie sich an, um fortzufahren.</p>",
    ),
    "german account": login(
        "Mein Konto",
        "E-Mail",
        "Kennwort",
        "Einloggen",
        text="<p>Bitte melden Sie sich mit Ihren Zugangsdaten an.</p>",
    ),
    "german required": login("Login erforderlich", "Kennung", "Passwort", "Weiter"),
    "french": login("Connexion", "Identifiant", "Mot de passe", "Se connecter"),
    "french please": login(
        "Espace client",
        "Identifiant",
        "Mot de passe",
        "Valider",
        text="<p>Veuillez vous connecter pour accéder à cette page.</p>",
    ),
    "spanish": login("Iniciar sesión", "Usuario", "Contraseña", "Entrar"),
    "polish": login("Zaloguj się", "Login", "Hasło", "Zaloguj"),
    "russian": login("Вход", "Логин", "Пароль", "Войти"),
    "japanese": login("ログイン", "ID", "パスワード", "ログイン"),
    "without heading": f"<title>Example Corp</title><body><div>{FORM}</div></body>",
    "e-mail first": page(
        "Sign in", "<form><input type=email name=email><button>Next</button></form>"
    ),
    "buttons of others": page(
        "Log in to continue",
        "<p>Please log in to see this page.</p><button>Continue with X</button>",
    ),
}
NOT_FOUND = {
    "english": page("Page not found", "<p>Sorry, the page you requested could not be found.</p>"),
    "404 and name": page("404 - Page Not Found | Example", "<p>Go home</p>", heading="404"),
    "oops": page("Oops!", "<p>The page you are looking for doesn't exist or has been moved.</p>"),
    "we cannot find": page("We can't find that page", "<p>Try the search.</p>"),
    "german": page("Seite nicht gefunden", "<p>Die angeforderte Seite existiert leider nicht.</p>"),
    "german 404": page("Fehler 404", "<p>Die gesuchte Seite konnte nicht gefunden werden.</p>"),
    "french": page("Page introuvable", "<p>La page que vous recherchez n'existe plus.</p>"),
    "spanish": page("Página no encontrada", "<p>La página solicitada no existe.</p>"),
    "italian": page("Pagina non trovata", "<p>Torna alla home</p>"),
    "dutch": page("Pagina niet gevonden", "<p>De pagina die je zoekt bestaat niet.</p>"),
    "swedish": page("Sidan kunde inte hittas", "<p>Till startsidan</p>"),
    "polish": page("Nie znaleziono strony", "<p>Strona główna</p>"),
    "russian": page("Страница не найдена", "<p>Запрашиваемая страница не существует.</p>"),
    "japanese": page("ページが見つかりません", "<p>トップへ戻る</p>"),
    "chinese": page("页面不存在", "<p>返回首页</p>"),
    "turkish": page("Sayfa bulunamadı", "<p>Ana sayfa</p>"),
    "no heading": page(
        "Example", "<p>Sorry, the page you requested was not found.</p>", heading=None
    ),
}
SHELLS = {
    "react": f'<title>App</title><body>{_NO_JS}<div id="root"></div><script src="/a.js"></script>',
    "angular": '<body><app-root></app-root><script src="main.js" type="module"></script>',
    "angular loading": "<body><app-root>Loading...</app-root><script src=main.js></script>",
    "vue": '<body><div id="app"></div><script src="/js/app.js"></script>',
    "vue sorry": (
        "<body><noscript><strong>We're sorry but shop doesn't work properly without JavaScript"
        ' enabled.</strong></noscript><div id="app"></div><script src="/js/app.js"></script>'
    ),
    "next with data": (
        '<body><div id="__next"></div><script id="__NEXT_DATA__" type="application/json">'
        '{"props":{"title":"Pump"}}</script><script src="/_next/main.js"></script>'
    ),
    "nuxt": '<body><div id="__nuxt"></div><script>window.__NUXT__={}</script>',
    "angularjs": '<body ng-app="shop"><div ng-view></div><script src="a.js"></script></body>',
    "navigation only": (
        "<body><header><a href=/>Home</a></header><nav><a href=/a>A</a></nav><div id=root></div>"
        "<footer>2024 Example</footer><script src=a.js></script>"
    ),
    "words outside noscript": page(
        "Shop",
        "<p>This site requires JavaScript. Please enable it and reload.</p><script>1</script>",
    ),
    "german": page(
        "Karte",
        "<p>Bitte aktivieren Sie JavaScript in Ihrem Browser.</p><script src=a.js></script>",
        heading=None,
    ),
    "checking the browser": page(
        "Just a moment...",
        "<p>Enable JavaScript and cookies to continue</p><script>1</script>",
        heading=None,
    ),
    "nothing but scripts": "<body><script src='a.js'></script></body>",
}
CONSENT_WALLS = {
    "english": page(
        "Before you continue",
        "<p>We use cookies and data to deliver our services.</p>"
        "<button>Accept all</button><button>Reject all</button>",
    ),
    "german": page(
        "Bevor Sie fortfahren",
        "<p>Wir und unsere Partner verwenden Cookies, um personenbezogene Daten zu verarbeiten.</p>"
        "<button>Alle akzeptieren</button>",
    ),
    "french": page(
        "Le respect de votre vie privée",
        "<p>Nous utilisons des cookies.</p><button>Tout accepter</button>",
    ),
    "banner alone": (
        '<title>Example</title><body><div id="cookie-consent"><h2>Cookies</h2><p>We use some.</p>'
        "<button>Accept all</button></div></body>"
    ),
}
REFRESHES = {
    "at once": page("Moved", "moved", head='<meta http-equiv="refresh" content="0; url=/new">'),
    "quoted": page("Moved", "", head="""<meta http-equiv=refresh content="5;URL='/new'">"""),
    "upper case": page("Moved", "", head='<META HTTP-EQUIV="Refresh" CONTENT="3;URL=/new">'),
    "without url=": page("Moved", "", head='<meta http-equiv="refresh" content="0;/new">'),
    "absolute": '<meta http-equiv="refresh" content="1, url=https://example.org/new">',
    "location.replace": '<script>location.replace("/new")</script>',
    "location.href": "<body><script>window.location.href = '/new';</script></body>",
    "after a while": "<p>Moving…</p><script>setTimeout(function(){location='/new'}, 500)</script>",
    "for readers without scripts": (
        "<body><noscript><meta http-equiv=refresh content='0;url=/new'></noscript></body>"
    ),
}
"""Pages at `/x` that send their readers to `/new`."""
