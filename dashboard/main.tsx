import { render } from "preact";
import "./styles/base.css";

render(<p>Perdure</p>, document.getElementById("page") as HTMLElement);
